"""What people write into definitions of their own and may not: one message, at file and line, exit code 2."""

import pytest

from ccmatic.answers.verification.verifier import Verifier
from ccmatic.base import BYTES
from ccmatic.base.errors import InputError
from ccmatic.contracts import StateBelief
from ccmatic.controllers import parse
from ccmatic.logic.terms import boolean, choice, equal, every, iff, implies, no, real, some
from ccmatic.questions import query as queries
from support.cli import run

MODEL = """from fractions import Fraction

from ccmatic.logic import choice, equal, every, implies, iff, no, real, some
from ccmatic.models.ccac import CCAC


class Mine(CCAC):
    name = "mine"

    def network(self, x):
        yield from super().network(x)
        LAW


MODEL = Mine()
"""
#: The line of LAW.
LINE = 12


def verify(text, folder):
    (folder / "mine.py").write_text(text)
    network = ["--model", folder / "mine.py", "--buffer", "infinite", "--horizon", "4", "--out", folder / "traces"]
    code, _, message = run("verify", "cc_qdel", *network)
    return code, message


LAWS = {
    "x.S[0] == x.A[0]": "equal(a, b)",
    "x.S[0] != x.A[0]": "no(equal(a, b))",
    "not (x.S[1] > x.A[1])": "no(a)",
    "x.S[1] > 0 and x.A[1] > 0": "every(a, b)",
    "x.S[1] > 0 or x.A[1] > 0": "some(a, b)",
    "0 <= x.S[1] <= x.A[1]": "every(a, b)",
    "x.S[1] <= (x.A[1] if x.Q.at_least(1, 1) else 0)": "choice(a, x, y)",
    "x.S[1] <= max(x.A[0], x.A[1])": "largest(x, y)",
    "bool(x.S[1])": "a term is no condition",
    "(x.S[1] > 0) & (x.A[1] > 0)": "every(a, b)",
    "~(x.S[1] > 0)": "no(a)",
    "x.Q.at_least(1, 1) == x.Q.at_least(1, 2)": "iff(a, b)",
    "x.S[1] + x.Q.at_least(1, 1) > 0": "choice(a, 1, 0)",
    "-x.Q.at_least(1, 1) >= 0": "choice(a, 1, 0)",
    "x.S[1] in (x.A[0], x.A[1])": "equal(a, b)",
    "0.5 * x.S[1] <= 1": 'Fraction("1/2")',
    "x.S[1] <= 0.1 * x.C": 'Fraction("1/2")',
    "x.S[1] + 0.1 >= 0": 'Fraction("1/2")',
    "x.S[1] / 0.5 >= 0": 'Fraction("1/2")',
    "equal(x.S[1], 0.5)": 'Fraction("1/2")',
    "choice(x.S[1] > 0, 0.5, 1) > 0": 'Fraction("1/2")',
    "sum([x.S[1], 0.5]) > 0": 'Fraction("1/2")',
    "x.S[1] + True >= 0": "choice(a, 1, 0)",
    "x.S[1] >= None": "None is no number",
    'x.S[1] >= "1/2"': "is no number",
    "x.S[1] * x.A[1] >= 0": "a product of two unknowns",
    "x.S[1] / x.A[1] >= 0": "a division by an unknown",
    "1 / x.A[1] >= 0": "a division by an unknown",
    "x.S[1] / 0 >= 0": "a division by 0",
    "every(x.S[1])": "a term is no condition",
    "implies(x.S[1] > 0, None)": "None is no condition",
    "x.S[1]": "expected (law name, t, condition)",
    "None": "mine.own at t=1 is None",
    "1": "mine.own at t=1 is 1",
    "False": "mine.own at t=1 is false on every trace",
    "x.S[4] >= 0": "step 4 is not in the trace; expected one from 0 to x.horizon - 1, which is 3",
    "x.S[-1] >= 0": "step -1 is not in the trace",
    "x.Q.at_least(-1, 1)": "step -1 is not in the trace",
    "x.B[1] >= 0": "no attribute 'B'",
    'x.beliefs["C_M"][1] >= 0': "KeyError: 'C_M'",
    "1 / 0": "ZeroDivisionError",
    "self.network(x)": "RecursionError",
    "no()": "TypeError",
}


@pytest.mark.parametrize("law", LAWS)
def test_what_a_law_may_not_be_is_refused_at_its_line(law, tmp_path):
    recursive = "network" in law
    text = MODEL.replace("LAW", f"yield from {law}" if recursive else f'yield "own", 1, {law}')
    code, message = verify(text, tmp_path)
    assert code == 2
    if not recursive:
        assert f"mine.py:{LINE}:" in message
    assert "mine.py:" in message and LAWS[law] in message
    assert len(message.splitlines()) == 1


MISTAKES = {
    "law_of_two": (MODEL.replace("LAW", 'yield "own", x.S[1] >= 0'), "a law is ('own', <"),
    "half_way": (
        MODEL.replace("LAW", 'yield "own", 1, x.S[1] >= 0\n        raise ValueError("half")'),
        "ValueError: half",
    ),
    "no_generator": (MODEL.replace("yield from super().network(x)\n        LAW", "return None"), "laws are None"),
    "class": (MODEL.replace("LAW", "").replace("Mine()", "Mine"), "expected an instance, Mine()"),
    "another_type": (MODEL.replace("LAW", "").replace("Mine()", "3"), "expected a Model of ccmatic.contracts"),
    "no_network": (
        "from ccmatic.contracts import Model\nclass Mine(Model):\n    name = 'mine'\nMODEL = Mine()\n",
        "Mine does not define network",
    ),
    "no_name": (MODEL.replace("LAW", "").replace('name = "mine"', "name = None"), "the model's name is None"),
    "arity": (MODEL.replace("LAW", "").replace("(self, x)", "(self)"), "network is called with 1 argument"),
    "jitter": (MODEL.replace("LAW", "").replace('"mine"', '"mine"\n    default_jitter = 0.5'), "default_jitter is 0.5"),
    "measures": (MODEL.replace("LAW", "").replace('"mine"', '"mine"\n    measures = ("R",)'), "measures is ('R',)"),
    "exits": ("raise SystemExit(0)\n", "SystemExit"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_a_model_may_not_be_is_refused_in_its_file(mistake, tmp_path):
    text, expected = MISTAKES[mistake]
    code, message = verify(text, tmp_path)
    assert code == 2
    assert "mine.py:" in message and expected in message
    assert len(message.splitlines()) == 1


BELIEF = """from ccmatic.contracts import RunningMax, Sample
from ccmatic.models.ccac import CCAC
from ccmatic.base import RATE


class Mine(CCAC):
    name = "mine"

    def __init__(self):
        super().__init__()
        rate = RunningMax(NAME, RATE, samples=SAMPLES, start=START, true_start=lambda x: x.alpha,
                          holds=lambda x, bound: bound <= x.C)
        self.beliefs = (*self.beliefs, rate)


MODEL = Mine()
"""


def belief(name='"B"', samples="lambda x, t: [Sample(x.S[t] - x.S[0], t + x.D)]", start="lambda x, t: x.alpha > 0"):
    return BELIEF.replace("NAME", name).replace("SAMPLES", samples).replace("START", start)


BELIEFS = {
    "hides_a_column": (belief(name='"S"'), "a belief's name is 'S'"),
    "hides_a_step": (belief(name='"A_1"'), "a belief's name is 'A_1'"),
    "twice": (belief(name='"C_L"'), "beliefs of different names"),
    "arity": (belief(start="lambda x: True"), "start of B is called with 2 arguments"),
    "float": (belief(samples="lambda x, t: [Sample(x.S[t] * 0.5, 1)]"), 'Fraction("1/2")'),
    "start": (belief(start="lambda x, t: None"), "mine.B_starts at t=0 is None"),
}


@pytest.mark.parametrize("mistake", BELIEFS)
def test_what_a_belief_may_not_be_is_refused_in_its_file(mistake, tmp_path):
    text, expected = BELIEFS[mistake]
    (tmp_path / "mine.py").write_text(text)
    (tmp_path / "reads.py").write_text("def rate(C_L):\n    return C_L\n")
    network = ["--model", tmp_path / "mine.py", "--buffer", "infinite", "--horizon", "4", "--out", tmp_path / "t"]
    code, _, message = run("verify", tmp_path / "reads.py", *network)
    assert code == 2
    assert "mine.py:" in message and expected in message
    assert len(message.splitlines()) == 1


def test_functions_raise_the_same(tmp_path):
    (tmp_path / "mine.py").write_text(MODEL.replace("LAW", 'yield "own", 1, x.S[0] == x.A[0]'))
    asked = queries.make(str(tmp_path / "mine.py"), "infinite", 4)
    with pytest.raises(InputError) as error:
        Verifier(asked, ("C_L",)).verify(parse("def rate(C_L):\n    return C_L\n"))
    assert (error.value.file, error.value.line) == (str(tmp_path / "mine.py"), LINE)


@pytest.mark.parametrize(
    "join", [every, some, no, lambda a: implies(a, a), lambda a: iff(a, a), lambda a: choice(a, 1, 2)]
)
@pytest.mark.parametrize("wrong", [None, 1, "P", real("x"), {}])
def test_only_conditions_are_joined(join, wrong):
    with pytest.raises(InputError, match="is no condition"):
        join(wrong)


def test_truth_values_of_python_are_refused_wherever_unknowns_are():
    x, p = real("x"), boolean("p")
    for ask in (lambda: bool(x), lambda: bool(p), lambda: x == x, lambda: p == p, lambda: hash(x), lambda: hash(p)):
        with pytest.raises((InputError, TypeError)):
            ask()
    assert equal(1, 1) is True


PROPERTY = """from dataclasses import dataclass
from fractions import Fraction

from ccmatic.contracts import Property, WayToFail


@dataclass(frozen=True)
class Mine(Property):
    name = "mine"
    share: TYPE = Fraction(1, 2)

    def ways_to_fail(self, model, buffer):
        yield from WAYS

    def objectives(self, model, x):
        return {}

    def holds(self, objectives):
        return True


PROPERTY = Mine
"""

PROPERTIES = {
    "threshold": (PROPERTY.replace("TYPE", "float"), "the threshold share is <class 'float'>"),
    "instance": (PROPERTY.replace("TYPE", "Fraction").replace("= Mine", "= Mine()"), "expected the class itself"),
    "no_holds": (PROPERTY.replace("TYPE", "Fraction").replace("def holds", "def _"), "Mine does not define holds"),
    "no_way": (PROPERTY.replace("TYPE", "Fraction"), "has no way to fail"),
    "float": (
        PROPERTY.replace("TYPE", "Fraction").replace("WAYS", '[WayToFail("slow", lambda x: x.S[3] < 0.5)]'),
        'Fraction("1/2")',
    ),
}


@pytest.mark.parametrize("mistake", PROPERTIES)
def test_what_a_property_may_not_be_is_refused(mistake, tmp_path):
    text, expected = PROPERTIES[mistake]
    (tmp_path / "mine.py").write_text(text.replace("WAYS", "[]"))
    with pytest.raises(InputError) as error:
        asked = queries.make("ccac", "infinite", 4, property=str(tmp_path / "mine.py"))
        Verifier(asked, ("C_L",)).verify(parse("def rate(C_L):\n    return C_L\n"))
    assert expected in error.value.message
    assert error.value.line or mistake == "no_way"


@pytest.mark.parametrize(("given", "lacks"), [("holds_at", "start"), ("start", "holds_at")])
def test_a_belief_that_can_be_false_says_both_when_and_what_then(given, lacks):
    """Else a window of a deployed controller would begin with it true, or with anything."""
    with pytest.raises(InputError, match=f"B has {given}; expected {lacks} as well"):
        StateBelief("B", BYTES, laws=lambda x: (), value=lambda x, t: 0, **{given: lambda x, t: True})
