"""Mistakes of newcomers to the question language: each gets one message, which says what was found and expected."""

import shlex
import tomllib

import pytest

import ccmatic as cm
from support import ROOT
from support.cli import run

RECORDED = tomllib.loads((ROOT / "tests" / "questions" / "mistakes.toml").read_text())


@pytest.mark.parametrize("mistake", RECORDED["mistakes"], ids=lambda mistake: mistake["mistake"])
def test_a_mistake_gets_one_message(mistake, tmp_path):
    for name, text in RECORDED["files"].items():
        (tmp_path / name).write_text(text)
    code, out, err = run(*shlex.split(mistake["command"]), cwd=tmp_path)
    assert (code, out, err) == (2, "", f"ccmatic: {mistake['message']}\n")


def test_a_message_names_what_was_expected():
    for mistake in RECORDED["mistakes"]:
        expects = ("expected", "did you mean", "needs", "write", "no such file", "cannot read", "choose from")
        assert any(word in mistake["message"].lower() for word in expects), mistake["mistake"]


def test_suggested_networks_accept_the_question():
    """A network of shorter steps, if a message has one, is the same path, and the question fits it."""
    mistakes = [each for each in RECORDED["mistakes"] if "shorter steps" in each["message"]]
    for mistake in mistakes:
        _, controller, _, on, _, expect, *_ = shlex.split(mistake["command"])
        shorter = mistake["message"].split("'")[1]
        amount = next(word for word in ("60 ms", "0.5 rtt", "1/2 rtt") if word in expect)
        assert cm.ask(controller, shorter, expect).steps == 2
        coarse, fine = (cm.ask(controller, path, expect.replace(amount, "2 rtt")) for path in (on, shorter))
        assert (coarse.description.rate, coarse.description.rtt) == (fine.description.rate, fine.description.rtt)
        assert type(coarse.query.model) is type(fine.query.model)
    assert mistakes
