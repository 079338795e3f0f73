"""The forty questions: each takes one line or has an explanation, and the answer equals that of its `avoids`."""

import re
import shlex
import tomllib

import pytest
from ccmatic.properties.expectations import Reader

import ccmatic as cm
from ccmatic.logic import isolated
from support import ROOT
from support.cli import lines, run
from support.sampling import each_nth

QUESTIONS = tomllib.loads((ROOT / "tests" / "questions" / "questions.toml").read_text())["questions"]
SOLVED = [each for each in QUESTIONS if "answer" in each]
MARKED = [
    pytest.param(each, marks=pytest.mark.slow if "slow" in each else (), id=each["question"][:40]) for each in SOLVED
]
BY_EXPECTATION = [each for each in SOLVED if "--expect" in shlex.split(each["command"]) and "slow" not in each]
LONG = [each for each in SOLVED if "--expect" in shlex.split(each["command"]) and "slow" in each]


def option(words, name, default=None):
    """The value of an option of a command."""
    return words[words.index(name) + 1] if name in words else default


def test_there_are_forty_and_at_least_34_are_asked_in_a_line():
    people = [each["person"] for each in QUESTIONS]
    assert {person: people.count(person) for person in people} == dict.fromkeys(
        ("engineer", "researcher", "operator", "reviewer"), 10
    )
    assert sum("command" in each for each in QUESTIONS) >= 34
    assert all(("command" in each) != ("reason" in each) for each in QUESTIONS)


@pytest.mark.parametrize("asked", MARKED)
def test_a_line_answers(asked, tmp_path):
    for solver in re.findall(r"cvc5|yices", asked.get("needs", "")):
        pytest.importorskip(solver)
    _, out, error = run(*shlex.split(asked["command"]), "--json", cwd=tmp_path)
    (line,) = lines(out) or [error]
    assert line.get("met", line.get("verdict")) == asked["answer"]


@pytest.mark.parametrize(
    "asked",
    [*each_nth(3, BY_EXPECTATION), *(pytest.param(each, marks=pytest.mark.slow) for each in LONG)],
    ids=lambda asked: asked["question"][:40],
)
@isolated
def test_the_equivalent_condition_has_the_same_answer(asked):
    words = shlex.split(asked["command"])
    period = option(words, "--period")
    about = {"start": option(words, "--from", "any"), "period": period and int(period)}
    question = cm.ask(words[1], option(words, "--on"), option(words, "--expect"), **about)
    query = question.query
    reader = Reader(query.model, query.execution(state=question.controller.state))
    _, given = question.edge() if "no " not in option(words, "--expect") else (None, ["A[0] == S[0]", "L[0] == 0"])
    what = reader.avoided(question.expectation)
    same = cm.Query(query.network, "avoids", what=what, given="; ".join(given), repeats=period or 0)
    assert cm.verify(question.controller, same).verdict == asked["answer"]


def test_the_reference_lists_every_quantity():
    from ccmatic.properties.expectations import QUANTITIES

    page = (ROOT / "docs" / "reference" / "expectations.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \|", page.split("## Quantities")[1].split("## Starts")[0], re.M)
    assert listed == list(QUANTITIES)
