"""Flows that send by a window, simulated packet by packet: executions of `ccac2021`, and what is made of them."""

from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from random import Random
from types import SimpleNamespace

import pytest

from ccmatic.base import InputError
from ccmatic.contracts import Buffer, load_definition, observed
from ccmatic.evaluation import runs
from ccmatic.exporting import header
from ccmatic.runtime.library import Library
from ccmatic.runtime.stateful_library import StatefulSender
from ccmatic.simulation import JITTER, Path, Simulation, WindowFlow, windows
from support.machine import needs_compiler
from support.window_senders import CONTROLLERS

PUBLISHED = "ccac2021"
OF_EXECUTIONS = {"ccac_windows": 1, "cbr_delay_windows": 1, "ideal_windows": 0}  # with D
PACKET, STEPS, SEEDS = 1500, 30, range(4, 8)

pytestmark = needs_compiler


@cache
def built(name):
    return Library(header.make(name))


def execution(name, seed, begin=0, jittery=True):
    """A run of a controller, from a step of it on, as an execution: C·R_m is 1, and what left more slowly than its
    window allows left at its rate."""
    rng = Random(seed)
    bdp, room, jitter = rng.choice((4, 10, 25)), rng.choice((2, 8, 40)), rng.choice(sorted(JITTER))
    path = Path("cbr_delay", PACKET * bdp, 1, PACKET, 1, PACKET * room)
    flow = WindowFlow(Simulation(path, seed, jitter=jitter if jittery else "none"), StatefulSender(built(name), PACKET))
    lost, found, cwnd = [0], [0], [1]
    for _ in range(begin + STEPS):
        flow.step()
        lost.append(flow.seen.lost // PACKET)
        found.append(flow.found)
        cwnd.append(flow.sender.window() // PACKET)
    samples = {name: list(map(int, column[begin:])) for name, column in flow.simulation.run().samples.items()}
    columns = {"L": samples["L"], "Ld": lost[begin:], "found": found[begin:], "cwnd": cwnd[begin:]}
    columns |= {name: [n - samples["S"][0] for n in samples[name]] for name in "ASK"}
    A, K = columns["A"], columns.pop("K")
    allowed = [S + Ld + cwnd for S, Ld, cwnd in zip(columns["S"], columns["Ld"][1:], columns["cwnd"][1:], strict=False)]
    rates = [after - before for before, after in pairwise(A)]
    windowed = [after == max(before, most) for (before, after), most in zip(pairwise(A), allowed, strict=True)]
    columns["r"] = [10**6, *(10**6 if free else rate for rate, free in zip(rates, windowed, strict=True))]
    columns["W"] = [t * bdp - tokens for t, tokens in enumerate(K)]
    scaled = {name: [Fraction(n, bdp) for n in column] for name, column in columns.items()}
    delays = [delay if served else STEPS + 1 for delay, served in zip(samples["Q"], samples["S"], strict=True)]
    return SimpleNamespace(
        horizon=STEPS + 1,
        constants={"MSS": Fraction(1, bdp), "beta": Fraction(room, bdp), "tokens_at_first": 0},
        columns={**scaled, "Q": delays},
    )


def broken(recorded, model=PUBLISHED, D=1):
    """The names of the laws, of the network and of senders, that an execution breaks."""
    model, beta = load_definition("models", "MODEL", model), Buffer("exactly", recorded.constants["beta"])
    return {law.name for law in model.laws(observed(model, beta, D, recorded, ())) if law.formula is not True}


@pytest.mark.parametrize("name", ["aimd", "constant_window"])
def test_runs_obey_the_published_laws(name):
    """From their beginning on."""
    runs_of = [execution(name, seed) for seed in SEEDS]
    assert [broken(recorded) for recorded in runs_of] == [set()] * len(SEEDS)
    assert name == "constant_window" or any(recorded.columns["L"][-1] for recorded in runs_of)


@pytest.mark.parametrize("model", OF_EXECUTIONS)
@pytest.mark.parametrize("name", CONTROLLERS)
def test_runs_obey_the_laws_of_executions(name, model):
    """Of every exported controller, from any step on; in one of the runs of AIMD service pauses for a step."""
    obeys_the_laws_of_executions(name, model, (1, 4))


@pytest.mark.slow
@pytest.mark.parametrize("model", OF_EXECUTIONS)
@pytest.mark.parametrize("name", CONTROLLERS)
def test_many_runs_obey_the_laws_of_executions(name, model):
    obeys_the_laws_of_executions(name, model, range(100))


def obeys_the_laws_of_executions(name, model, seeds):
    D = OF_EXECUTIONS[model]
    for seed, begin in product(seeds, (0, 9)):
        assert broken(execution(name, seed, begin, jittery=D > 0), model, D) == set(), (seed, begin)


def test_losses_are_found_by_acknowledgements_and_by_timeouts():
    """In runs that obey the laws."""
    columns = [execution("reno", seed).columns for seed in range(12)]
    assert any(run["found"][-1] for run in columns)
    assert any(Ld > found for run in columns for Ld, found in zip(run["Ld"], run["found"], strict=True))


def test_what_the_published_timeout_forbids_happens():
    """It fires whenever the queue is empty after any loss, and nothing may be lost then. A burst into an empty link may
    lose packets."""
    found = [broken(execution("reno", seed)) for seed in SEEDS]
    assert set().union(*found) == {"timeout_detects_all"} and set() in found


@pytest.mark.parametrize("column, law", [("found", "detected_by_dupacks"), ("Ld", "detected_by_either")])
def test_a_loss_that_is_not_found_in_time_breaks_a_law(column, law):
    """Of executions: what acknowledgements, or timeouts, find a step later."""
    late = [execution("reno", seed) for seed in range(12)]
    for run in late:
        run.columns[column] = [0, *run.columns[column][:-1]]
    assert any(law in broken(run, "cbr_delay_windows") for run in late)


def test_a_loss_found_too_early_breaks_a_law(monkeypatch):
    monkeypatch.setattr(windows, "DUPACKS", 2)
    assert any("not_detected_before_dupacks" in broken(execution("reno", seed)) for seed in SEEDS)


def test_acknowledgements_that_come_too_early_break_a_law(monkeypatch):
    step = WindowFlow.step

    def early(self):
        step(self)
        self._before += self.simulation.send(1)
        self.simulation._steps -= 1

    monkeypatch.setattr(WindowFlow, "step", early)
    assert any("sends_by_window_and_rate" in broken(execution("reno", seed)) for seed in SEEDS)


def test_a_window_on_a_link_that_hides_tokens_is_refused():
    with pytest.raises(InputError, match="on links of fixed rate only; ccac has no such link"):
        WindowFlow(Simulation(Path("ccac", PACKET * 4, 1, PACKET, 1)), StatefulSender(built("aimd"), PACKET))


@pytest.mark.parametrize("jitter", runs.JITTERS)
def test_reno_uses_a_link_whose_buffer_is_a_bdp(jitter):
    found = runs.run("reno", runs.Scenario((24,), 40, Fraction(1), jitter))
    assert found.utilisation > 0.9 and 0 < found.lost < 100 and found.rtt_ms.mean > 60 and not found.at_start


def test_a_constant_window_gets_a_packet_in_each_R_m():
    found = runs.run("constant_window", runs.Scenario((24,), 40, Fraction(1), "none"))
    assert found.utilisation == pytest.approx(1 / 80) and found.rtt_ms.mean == pytest.approx(40)
