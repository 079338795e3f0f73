"""Queries that state floors on a shape's constants: what holds, and is found, is what its lemmas say for all time."""

from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic import proofs
from ccmatic.base import InputError
from ccmatic.contracts import load_definition
from ccmatic.questions.query import from_record
from support.cli import lines, run

STATES = 'C_U_most = 3\nsent = 2\nC_L_least = "1/2"\nqueue = 3\n'
QUERY = """[network]
model = "{model}"
buffer = "infinite"
horizon = {horizon}
[guarantee]
{floors}
[template]
name = "./few.py"
"""
#: C_L, once or twice, or less while bytes wait, or not: cc_qdel and 15 others.
FEW = """from ccmatic.contracts import Branch, linear_forms
CONDITION = linear_forms({"qdel_L": (0, 1), "R_m": (0, -1)})
TEMPLATE = Branch(CONDITION, linear_forms({"C_L": (0, "1/2")}), linear_forms({"C_L": (1, 2)}))
"""


@pytest.fixture
def query(tmp_path):
    """Writes a query file; returns its path."""

    def write(floors, horizon=3, model="ccac"):
        (tmp_path / "few.py").write_text(FEW)
        file = tmp_path / "query.toml"
        file.write_text(QUERY.format(floors=floors, horizon=horizon, model=model))
        return file

    return write


def test_what_is_asked_are_the_lemmas_of_the_shape(query):
    asked = cm.load_query(query(STATES + "utilisation = 0.6\n"))
    shape = load_definition("proofs", "PROOF", "link_rate")
    ways = [way.name for way in asked.property.ways_to_fail(asked.model, asked.buffer)]
    assert ways == [lemma.name for lemma in shape.all_lemmas(asked.model)]
    assert asked.network.delay == "executions" and asked.property.deployed
    stated = {"C_U_most": 3, "sent": 2, "C_L_least": 0.5, "queue": 3, "utilisation": Fraction(3, 5)}
    loosest = {each.name: each.grid()[0] for each in shape.constants}
    assert asked.property.constants == loosest | stated


def test_a_record_is_read_as_it_was(query):
    asked = cm.load_query(query(STATES))
    again = from_record(asked.record())
    assert (again.record(), again.property) == (asked.record(), asked.property)


def test_a_controller_without_the_guarantee_has_a_window_that_breaks_a_lemma(query):
    """In windows of two steps bounds that are too low do not rise."""
    verdict = cm.verify("cc_qdel", cm.load_query(query(STATES)))
    assert verdict.verdict == "violated" and "C_U too low: progresses" in verdict.trace.broken
    assert cm.replay(verdict.trace).outcome.value == "breaks"


def test_none_of_a_template_has_it_which_is_checked(query, tmp_path):
    code, out, _ = run("synth", query(STATES), "--run", tmp_path / "run.db", "--json", cwd=tmp_path)
    assert code == 1 and lines(out)[-1]["solutions"] == 0
    code, out, _ = run("check-cover", tmp_path / "run.db", "--allow-code", "--json")
    (checked,) = lines(out)
    assert code == 0 and checked["covered"] and checked["candidates"] == 16 and checked["counterexamples"] < 16


def test_nothing_is_as_wide_as_a_controller_without_it(query, tmp_path):
    """One window breaks all envelopes around it, which is checked by replay."""
    code, out, _ = run("widen", "cc_qdel", "--query", query(STATES), "--out", tmp_path / "wider", "--json")
    (summary,) = lines(out)
    assert code == 1 and (summary["envelopes"], summary["questions"]) == (0, 1) and summary["grid"] == 6561
    code, out, _ = run("check-widening", tmp_path / "wider", "--allow-code", "--json")
    assert code == 0 and lines(out)[0]["complete"]


@pytest.mark.slow
def test_the_widest_around_a_controller_that_have_it_are_found(query, tmp_path):
    """While bytes wait, the lower end may be 0; otherwise no envelope is wider by a step."""
    floors = STATES.replace("1/2", "107/200") + 'utilisation = "11/20"\n'
    asked = "--query", query(floors, 11), "--step", "1", "--out", tmp_path / "wider", "--json"
    code, out, _ = run("widen", "cc_qdel", *asked)
    *envelopes, summary = lines(out)
    assert code == 0 and summary["grid"] == 16 and summary["undecided"] == 0
    assert "between(0, C_L / 2)" in envelopes[0]["source"] and "return 2 * C_L" in envelopes[0]["source"]
    code, out, _ = run("check-widening", tmp_path / "wider", "--allow-code", "--json")
    assert code == 0 and lines(out)[0]["complete"]


@pytest.mark.slow
def test_those_that_have_it_are_found(query, tmp_path):
    """Among the 16 members, cc_qdel's class has the guarantee that is proved for it."""
    floors = STATES.replace("1/2", "29/40") + 'utilisation = "17/20"\n'
    code, out, _ = run("synth", query(floors, 11), "--json", cwd=tmp_path)
    *solutions, last = lines(out)
    assert code == 0 and last["solutions"] == 1 and "return 1/2 * C_L" in solutions[0]["source"]


@pytest.mark.parametrize(
    "floors, message",
    [
        (STATES + "utilization = 1", "no shape has a constant 'utilization'; did you mean 'utilisation'"),
        ('shape = "link_rat"', "there is no shape 'link_rat'; did you mean 'link_rate'"),
        ('shape = "link_rate"\nloss = 1', "the shape link_rate has no constant 'loss'"),
        (STATES + "utilisation = 2", "utilisation is 2; expected a number from 1/10 to 1"),
        (STATES + "utilisation = 'much'", "utilisation is much; expected a number from 1/10 to 1"),
        ("utilisation = 0.8", "expected C_U_most, sent, C_L_least, queue as well, because the states"),
        (STATES + '[property]\nutilisation = "1/2"', r"found \[property\] and \[guarantee\]; expected one of them"),
    ],
)
def test_floors_that_no_shape_has_are_refused(query, floors, message):
    with pytest.raises(InputError, match=message) as refused:
        cm.load_query(query(floors))
    assert refused.value.file == str(query(floors))


def test_a_shape_for_other_beliefs_is_refused(query):
    asked = cm.load_query(query(STATES, model="cbr_delay"))
    with pytest.raises(InputError, match="the shape link_rate is of ccac; found the model cbr_delay"):
        cm.verify("cc_probe_slow", asked)


def test_every_shape_adds_up():
    """A query may use a shape without a proof's check, so states must have an order and windows must join."""
    from ccmatic.proving.prover import Prover

    for name in proofs.SHAPES:
        prover = Prover(name, "cc_probe_slow" if name == "probes" else "cc_qdel")
        assert prover.faults({constant.name: constant.grid()[0] for constant in prover.proof.constants}) == []
