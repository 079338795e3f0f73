"""A sender's knowledge: exact bounds always contain the truth, and lie within the beliefs."""

from dataclasses import replace
from fractions import Fraction
from math import inf
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some_of

from ccmatic.answers.estimation import ANY, Range, estimates, possible
from ccmatic.answers.estimation.senders import declared
from ccmatic.base import InputError
from ccmatic.contracts import sender_observations
from ccmatic.logic import every, isolated, linear, real, some, unit, unit_is_positive
from ccmatic.logic.solving import SAT, Checker, greatest, programs
from ccmatic.networks.simulation import Path, Simulation
from ccmatic.questions.query import Network
from support import ROOT
from support.cli import lines, run
from support.json_schemas import validate
from support.sampling import each_nth

MODELS = ("ccac", "cbr_delay")
DRAIN = ROOT / "results/gallery/late_drain.json"
BDP = 10


@some_of.composite
def seen_on_a_link(draw, model, steps):
    """A Network, as its sender knows it, and the Trace of a run on it."""
    jitter, room = draw(some_of.integers(1, 2)), draw(some_of.sampled_from([None, 3, 5, 10, 20, 40]))
    path = Path(model, BDP, jitter=jitter, buffer=room)
    simulation = Simulation(path, draw(some_of.integers(0, 999)), draw(some_of.sampled_from([0, 10, 30])))
    start = draw(some_of.integers(1, 4))
    for rate in draw(some_of.lists(some_of.integers(1, 3 * BDP), min_size=steps + start, max_size=steps + start)):
        simulation.step(rate)
    known = "infinite" if room is None else draw(some_of.sampled_from(["any", str(Fraction(room, BDP))]))
    return Network(model, known, max(steps, jitter + 2), jitter, "executions"), simulation.run().trace(start, steps)


def waits(trace, t):
    """Bytes that wait at the bottleneck."""
    return max(Fraction(0), trace.columns["A"][t] - trace.columns["L"][t] - trace.columns["K"][t])


def inside(value, found):
    return (found.least is None or found.least <= value) and (found.most is None or value <= found.most)


def within(found, low=0, high=inf):
    """All that is possible is between two bounds; of nothing known, anything is."""
    bounded = high == inf or (found.most is not None and found.most <= high)
    return found == ANY or (low <= found.least and bounded)


@pytest.mark.parametrize("model", MODELS)
def test_the_truth_is_possible_and_what_is_possible_is_believed(model):
    @settings(derandomize=True, deadline=None, max_examples=3)
    @given(seen_on_a_link(model, 6))
    def try_one(case):
        network, trace = case
        for each in estimates(trace, network):
            found, believed, queue = each.possible, each.declared, waits(trace, each.t)
            assert inside(1, found.C) and inside(queue, found.queue) and inside(queue, found.delay)
            assert within(found.C, max(believed["C_L"], believed.get("C_Llambda", 0)), believed["C_U"])
            assert within(found.queue, high=believed.get("q_U", inf))
            assert within(found.waited, believed["qdel_L"], believed["qdel_U"] - 1)

    try_one()


@isolated
def believed_falsely(case):
    """Whether an execution that looks as the last steps of a trace do makes one of the beliefs at its end false."""
    network, trace = case
    x, end = sender_observations(network.model, network.buffer, network.jitter, trace, trace.horizon), trace.horizon - 1
    believed = {name: column[end] for name, column in declared(network.model, network.jitter, trace).items()}
    checker = Checker()
    checker.add(every(unit_is_positive(), [law.formula for law in network.model.laws(x)]))
    assert checker.check() == SAT
    least = max(believed["C_L"], believed.get("C_Llambda", 0))
    wrong = [x.C < unit() * least]
    wrong += [x.C > unit() * believed["C_U"]] if believed["C_U"] != inf else []
    wrong += [x.queue(end) > unit() * believed["q_U"]] if "q_U" in believed else []
    checker.add(some(wrong))
    return checker.check() == SAT


def find_false_beliefs(model, examples):
    @settings(derandomize=True, deadline=None, max_examples=examples)
    @given(seen_on_a_link(model, 10))
    def try_one(case):
        assert not believed_falsely(case)

    try_one()


@pytest.mark.parametrize("model", MODELS)
def test_no_execution_of_ten_steps_makes_beliefs_false(model):
    find_false_beliefs(model, 8)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_no_execution_of_a_hundred_thousand_steps_makes_beliefs_false(model):
    find_false_beliefs(model, 10_000 // len(MODELS))


CONGESTED = [20, 20, 20, 20, 5, 5, 15, 15]


def congested(model, buffer="any", steps=8):
    """The Network and the Trace of a link with a buffer of 2·C·R_m that is overfull at first."""
    simulation = Simulation(Path(model, BDP, jitter=1, buffer=20), seed=1)
    for rate in [BDP, *CONGESTED]:
        simulation.step(rate)
    return Network(model, buffer, steps, 1, "executions"), simulation.run().trace(1, steps)


@pytest.mark.parametrize("model", each_nth(2, MODELS))
@pytest.mark.parametrize("buffer", ["any", "2"])
def test_each_end_is_reached_and_nothing_is_beyond(model, buffer):
    network, trace = congested(model, buffer)
    found = possible(network, trace).C
    assert found.least < 1 < found.most or found.least == found.most == 1
    for end in (found.least, found.most):
        assert possible(network, trace, Range(end, end)).C == Range(end, end)
    for beyond in (
        Range(None, found.least * Fraction(999999, 10**6)),
        Range(found.most * Fraction(1000001, 10**6), None),
    ):
        with pytest.raises(InputError, match=f"{model}.C_is_as_before"):
            possible(network, trace, beyond)


def test_an_end_that_is_only_approached():
    """A packet is less than C/5."""
    network, trace = congested("ccac")
    first = next(estimates(trace, network)).possible.C
    assert first == Range(5 * trace.constants["MSS"], None)


def test_the_unit_of_bytes_does_not_matter():
    network, trace = congested("cbr_delay")
    columns = {name: tuple(v * 1500 for v in column) for name, column in trace.columns.items() if name not in "QF"}
    larger = replace(trace.with_columns(**columns), constants={"MSS": trace.constants["MSS"] * 1500})
    one, other = possible(network, trace), possible(network, larger)
    assert other.C == Range(one.C.least * 1500, one.C.most * 1500)
    assert other.queue == Range(one.queue.least * 1500, one.queue.most * 1500)
    assert (other.delay, other.waited) == (one.delay, one.waited)


def test_who_looks_back_on_less_knows_no_more():
    network, trace = congested("ccac")
    short = Network("ccac", "any", 3, 1, "executions")
    for all_of_it, some_of_it in zip(estimates(trace, network), estimates(trace, short), strict=True):
        for name in ("C", "queue", "delay"):
            one, other = getattr(all_of_it.possible, name), getattr(some_of_it.possible, name)
            assert other.least <= one.least and (other.most is None or one.most <= other.most)
        assert inside(1, some_of_it.possible.C)


def test_who_knows_the_buffer_knows_no_less():
    _, trace = congested("ccac")
    known, unknown = (possible(Network("ccac", size, 8, 1, "executions"), trace).C for size in ("2", "any"))
    assert unknown.least <= known.least <= 1 <= known.most <= unknown.most


def test_the_command_says_it_as_text_as_json_and_as_a_picture(tmp_path):
    code, out, _ = run("estimate", DRAIN, "--plot", tmp_path / "out.svg")
    assert code == 0 and "1 … 1.333" in out and (tmp_path / "out.svg").stat().st_size > 10_000
    code, out, _ = run("estimate", DRAIN, "--json")
    steps = lines(out)
    for each in steps:
        validate(each, "EstimateLine")
    assert code == 0 and [each["t"] for each in steps] == [1, 2, 3, 4, 5, 6]
    assert steps[0]["C"] == {"least": "1", "most": None} and steps[0]["believed"]["C_U"] is None
    assert steps[-1]["C"] == {"least": "1", "most": "1"} and steps[-1]["queue"]["least"] == "15/2"


@pytest.mark.parametrize(
    "options, told",
    [
        (("--buffer", "1/4"), "by the end of step 1: no execution of ccac with the buffer 1/4 and a jitter of 1"),
        (("--buffer", "1/4"), "these laws rule it out: ccac.Q_fits_buffer at t=1"),
        (("--model", "ideal", "--jitter", "0"), "ideal.serves_at_link_rate at t=1, ideal.serves_at_link_rate at t=2"),
        (("--model", "cbr_delay"), "the trace has no F, which a sender on cbr_delay sees"),
        (("--model", "ccac_windows"), "late_drain.json: senders on ccac_windows send by a window"),
        (("--horizon", "2"), "the horizon is 2; expected a whole number of steps, 3 to 1000"),
        (("--plot", "out.txt"), "cannot draw this kind of file"),
    ],
)
def test_what_cannot_be_is_refused(options, told):
    code, out, message = run("estimate", DRAIN, *options)
    assert code == 2 and out == "" and told in message and message.count("\n") == 1


def test_a_buffer_without_end_loses_nothing(tmp_path):
    _, trace = congested("ccac")
    trace.save(tmp_path / "lost.json")
    code, _, message = run("estimate", tmp_path / "lost.json", "--buffer", "infinite")
    assert code == 2 and "the trace has losses, but the buffer is infinite" in message


def test_linear_programs():
    x, y = real("x"), real("y")
    corner = [x - y * 2 - 1, y - 3, 1 - y]
    assert greatest(x, linear(1), corner, []) == 7 and greatest(x, y, corner, []) == 3
    assert greatest(x, linear(1), corner, [x * 2 - y]) == Fraction(3, 2)
    assert greatest(-x, linear(1), corner, []) is None and greatest(-y, linear(1), corner, []) == -1


@pytest.mark.parametrize("told", [Fraction(8), Fraction(6), None])
def test_an_answer_to_a_linear_program_that_is_none_is_no_bound(told):
    """A bound above, below or in place of that which the point has."""
    x = real("x")
    wrong = (told, {"x": Fraction(7), programs.SCALE: Fraction(1)})
    with patch.object(programs, "_solve", return_value=wrong), pytest.raises(ArithmeticError):
        greatest(x, linear(1), [x - 7], [])
