"""The model `smooth_windows`: an ideal link whose rate changes within a budget (docs/reference/encoding.md, section
4)."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from random import Random
from types import SimpleNamespace

import pytest
from ccmatic.models.smooth_windows import MODEL

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.contracts import Buffer, observed
from ccmatic.deployment.exporting import header
from ccmatic.networks.simulation import Path, Simulation, WindowFlow
from ccmatic.worlds.runtime.library import Library, StatefulSender
from support.machine import needs_compiler

#: The most packets that the link serves in a step, and numbers of which each divides it or another small one.
MOST, RATES, STEPS = 12, (3, 4, 6, 8, 9, 12), 18
TINY = replace(MODEL, least=Fraction(1, 4), budget=Fraction(1, 6), window=3)


def rates(rng):
    """Packets in each step, among RATES, which keep TINY's budget."""
    chosen = [rng.choice(RATES)]
    while len(chosen) < STEPS:
        wanted = rng.choice(RATES)
        spent = sum(abs(b - a) for a, b in pairwise([*chosen, wanted][-TINY.window - 1 :]))
        chosen.append(wanted if spent <= TINY.window * TINY.budget * MOST else chosen[-1])
    return chosen


@cache
def built(name):
    return Library(header.make(name))


@cache
def execution(name, seed):
    """A run of a controller, packet by packet, as an execution: C·R_m is 1, and what left more slowly than its window
    allows left at its rate."""
    rng = Random(seed)
    chosen, room, packet = rates(rng), rng.choice((2, 8, 30)), 1500
    path = Path("ideal", packet * MOST, 1, packet, 0, packet * room)
    simulation = Simulation(path, seed, jitter="none", rates=[packet * rate for rate in RATES])
    flow = WindowFlow(simulation, StatefulSender(built(name), packet))
    lost, found, cwnd = [0], [0], [1]
    for rate in chosen:
        simulation.change_rate(packet * rate)
        flow.step()
        lost.append(flow.seen.lost // packet)
        found.append(flow.detected)
        cwnd.append(flow.sender.window() // packet)
    samples = {name: list(map(int, column)) for name, column in simulation.run().samples.items()}
    columns = {name: samples[name] for name in "ASL"} | {"Ld": lost, "found": found, "cwnd": cwnd}
    A, S = columns["A"], columns["S"]
    allowed = [max(A[t - 1], S[t - 1] + lost[t] + cwnd[t]) for t in range(1, STEPS + 1)]
    columns["r"] = [MOST, *(MOST * 100 if A[t] == allowed[t - 1] else A[t] - A[t - 1] for t in range(1, STEPS + 1))]
    columns["G"] = [sum(chosen[:t]) for t in range(STEPS + 1)]
    columns["V"] = [sum(abs(b - a) for a, b in pairwise(chosen[:t])) for t in range(STEPS + 1)]
    scaled = {name: [Fraction(n, MOST) for n in column] for name, column in columns.items()}
    delays = [delay if served else STEPS + 1 for delay, served in zip(samples["Q"], S, strict=True)]
    constants = {"MSS": Fraction(1, MOST), "beta": Fraction(room, MOST)}
    return SimpleNamespace(horizon=STEPS + 1, constants=constants, columns={**scaled, "Q": delays})


def broken(recorded, model=TINY):
    """The names of the laws that an execution breaks."""
    x = observed(model, Buffer("exactly", recorded.constants["beta"]), 0, recorded, ())
    return {law.name for law in model.laws(x) if law.formula is not True}


@needs_compiler
@pytest.mark.parametrize("name", ["cubic", "vegas", "bbr"])
def test_runs_obey_the_laws(name):
    """Runs of packets over an independent link; some of them lose bytes."""
    runs = [execution(name, seed) for seed in range(2)]
    assert [broken(run) for run in runs] == [set()] * 2
    assert any(run.columns["L"][-1] for run in runs)


@needs_compiler
@pytest.mark.parametrize(
    "other, law",
    [
        ({"budget": Fraction(1, 20)}, "budget_is_kept"),
        ({"window": 1}, "budget_is_kept"),
        ({"least": Fraction(1, 2)}, "rate_is_in_range"),
    ],
)
def test_runs_break_the_laws_of_others(other, law):
    assert broken(execution("vegas", 0), replace(TINY, **other)) == {law}


@needs_compiler
def test_a_change_that_is_not_counted_breaks_a_law():
    run = execution("vegas", 0)
    uncounted = SimpleNamespace(**{**vars(run), "columns": {**run.columns, "V": [Fraction(0)] * run.horizon}})
    assert broken(uncounted) == {"changes_are_counted"}


def test_the_worst_is_what_arithmetic_says():
    """For a window of 2/9 C·R_m on a link that serves C/2 at first; its rate then rises by the whole budget at once."""
    given = "alpha == 2/9; A[0] == S[0]; c_f[0][0] == c_f[0][1]; L[0] == 0; G[1] - G[0] == 1/2"
    network = cm.Network("smooth_windows", "infinite", 4)
    found = cm.worst("constant_window", network, given=given, resolution="1/100")
    risen = Fraction(1, 2) + 10 * Fraction(2, 96)
    assert found.verdict == "found"
    assert found.none <= Fraction(2, 9) * 3 / (Fraction(1, 2) + 2 * risen) < found.some == found.none + Fraction(1, 100)
    assert cm.replay(found.trace).outcome.value == "breaks"


TWO_IDEAL = "ccac2021:flows=2,begins=anywhere,timer=executions,waste=constant-rate,D=0,delay=own,loss=deterministic"


def test_two_flows_share_a_rate_that_stays_as_an_ideal_link():
    """And a rate that changes leaves one of them less."""
    given = "alpha == 1/4; " + "; ".join(f"c_f[{flow}][{t}] == 1/2" for flow in (0, 1) for t in (0, 1))

    def least(model, more):
        network = cm.Network(model, "1/2", 4)
        found = cm.worst("aimd", network, "share", start="empty", given=given + more, resolution="1/10")
        return found.none, found.some, found.verdict

    ideal = least(TWO_IDEAL, "")
    assert least("smooth_windows_two_flows", "; G[-1] - G[0] == 3") == ideal
    assert least("smooth_windows_two_flows", "; G[1] - G[0] == 1") < ideal


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"budget": Fraction(-1)}, "budget is -1; expected a change in a step, at least 0"),
        ({"least": Fraction(0)}, "least is 0; expected a rate above 0"),
        ({"window": 0}, "window is 0; expected a whole number of steps"),
    ],
)
def test_what_is_no_budget_is_refused(wrong, message):
    with pytest.raises(InputError, match=message):
        replace(MODEL, **wrong)


def test_a_period_is_shown_for_as_long_as_the_budget_lasts():
    """Else a budget of ten steps would be spent in each period of two."""
    network = cm.Network("smooth_windows", "1", 9)
    with pytest.raises(
        InputError, match="laws of smooth_windows look back on 10 before its last period; expected .* 13"
    ):
        cm.worst("constant_window", network, period=2)


def test_no_sender_believes_what_is_false_here():
    with pytest.raises(InputError, match="C_U"):
        cm.worst("aimd_believing", cm.Network("smooth_windows", "1", 5))
