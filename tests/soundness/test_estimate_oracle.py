"""`estimate` against an oracle that shares no code with it: the truth is possible, and no estimate can be narrower."""

from fractions import Fraction

import pytest
import z3

from ccmatic.answers.estimation import Range, estimates
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Network
from support.possible_paths import Paths, Run, random_run

MODELS = ("ccac", "cbr_delay")

#: By how much an end may be approached and not reached, in bytes; and what counts as no bound.
NEARLY, LARGE = Fraction(1, 10**6), 10**6


def trace_of(run):
    """The Trace of a Run."""
    constants = {"C": run.C, "R_m": Fraction(1), "D": Fraction(run.D), "MSS": run.MSS}
    names = [name for name in run.columns if name != "F" or run.model == "cbr_delay"]
    columns = {name: tuple(map(Fraction, run.columns[name])) for name in names}
    return Trace(len(columns["A"]), constants, columns, {"model": run.model})


def network_of(run, looks_back):
    """Return the Network as the sender of a Run knows it, with a limited look back."""
    buffer = "infinite" if run.buffer is None else str(run.buffer)
    return Network(run.model, buffer, looks_back, run.D, "executions")


def truth(run, t):
    """C, the bytes that wait, and how long what comes now waits, at the end of step t."""
    sent, lost, through = (run.columns[name][t] for name in "ALK")
    queue = max(Fraction(0), sent - lost - through)
    return {"C": run.C, "queue": queue, "delay": queue / run.C}


def check_ends(paths, found, numerator, denominator):
    """No path is beyond the ends of a Range of a quotient, and some path is at each, or as near as one likes."""
    if found.most is None:
        assert paths.possible(numerator > denominator * LARGE)
    else:
        assert not paths.possible(numerator > denominator * number(found.most))
        assert found.most == 0 or paths.possible(numerator > denominator * number(found.most - NEARLY))
    assert found.least == 0 or not paths.possible(numerator < denominator * number(found.least))
    assert paths.possible(numerator < denominator * number(found.least + NEARLY))


def number(value):
    """A number as a term of Z3."""
    return z3.RealVal(str(value))


def check(run, looks_back=10):
    """Compare each estimate of a Run with the oracle. Who looks back on less keeps what is known of C."""
    known = Range(None, None)
    for estimate in estimates(trace_of(run), network_of(run, looks_back)):
        end = estimate.t + 1
        found, paths = estimate.possible, Paths(run.steps(max(0, end - looks_back), end))
        if known.least is not None:
            paths.solver.add(paths.C >= number(known.least))
        if known.most is not None:
            paths.solver.add(paths.C <= number(known.most))
        known = found.C
        assert paths.possible(paths.C == number(run.C)), "the oracle excludes the truth"
        for name, true in truth(run, estimate.t).items():
            range_ = getattr(found, name)
            assert range_.least <= true and (range_.most is None or true <= range_.most), (name, estimate.t)
        check_ends(paths, found.C, paths.C, number(1))
        check_ends(paths, found.queue, paths.queue, number(1))
        check_ends(paths, found.delay, paths.queue, paths.C)
        waited = paths.waited()
        assert found.waited == (Range(min(waited), max(waited)) if waited else Range(None, None))


@pytest.mark.parametrize("model", MODELS)
def test_an_estimate_is_what_the_oracle_finds_possible(model):
    for seed in range(4):
        run = random_run(seed, model, 4)
        check(run, run.D + 2 if seed % 2 else 4)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_a_thousand_estimates_are_what_the_oracle_finds_possible(model):
    for seed in range(200):
        run = random_run(seed, model, 6)
        check(run, run.D + 2 if seed % 2 else 6)


def test_a_delay_that_began_before_the_trace_is_known():
    """The last byte served at t = 0 had waited for 4 steps, so the buffer holds at least 3·C. It held 4 bytes."""
    sent, served = [5 + Fraction(t, 2) for t in range(6)], [Fraction(t) for t in range(6)]
    columns = {"A": sent, "S": served, "K": served, "L": [1] * 6, "Ld": [0, *[1] * 5], "r": [Fraction(1, 2)] * 6}
    columns |= {"Q": [4, 4, 4, 4, 4, 3], "F": [4, 4, 4, 4, 4, 3]}
    run = Run("ccac", Fraction(1), 1, Fraction(1, 10), "any", Fraction(4), columns)
    assert next(estimates(trace_of(run), network_of(run, 6))).possible.C == Range(Fraction(1, 2), Fraction(4, 3))
    check(run)
    check(run, looks_back=3)
