"""Flows that send by a window, simulated packet by packet: executions of `ccac2021`, and what is made of them."""

from fractions import Fraction
from functools import cache
from random import Random
from types import SimpleNamespace

import pytest

from ccmatic.base import InputError
from ccmatic.codegen import header
from ccmatic.codegen.library import Library
from ccmatic.codegen.stateful_library import StatefulSender
from ccmatic.contracts import Buffer, load_definition, observed
from ccmatic.evaluate import runs
from ccmatic.simulation import JITTER, Path, Simulation, WindowFlow, windows
from support.machine import needs_compiler

MODEL = load_definition("models", "MODEL", "ccac2021")
PACKET, STEPS, SEEDS = 1500, 30, range(4, 8)

pytestmark = needs_compiler


@cache
def built(name):
    return Library(header.make(name))


def execution(name, seed):
    """A run of a controller from its beginning on, as an execution of the model: C·R_m is 1."""
    rng = Random(seed)
    bdp, room, jitter = rng.choice((4, 10, 25)), rng.choice((2, 8, 40)), rng.choice(sorted(JITTER))
    path = Path("cbr_delay", PACKET * bdp, 1, PACKET, 1, PACKET * room)
    flow = WindowFlow(Simulation(path, seed, jitter=jitter), StatefulSender(built(name), PACKET))
    lost, cwnd = [0], [1]
    for _ in range(STEPS):
        flow.step()
        lost.append(flow.seen.lost // PACKET)
        cwnd.append(flow.sender.window() // PACKET)
    samples = flow.simulation.run().samples
    columns = {name: samples[name] for name in "ASL"} | {"Ld": lost, "cwnd": cwnd, "r": [10**6] * (STEPS + 1)}
    columns["W"] = [t * bdp - K for t, K in enumerate(samples["K"])]
    scaled = {name: [Fraction(int(n), bdp) for n in column] for name, column in columns.items()}
    unknown = [delay if served else STEPS + 1 for delay, served in zip(samples["Q"], samples["S"], strict=True)]
    return SimpleNamespace(
        horizon=STEPS + 1,
        constants={"MSS": Fraction(1, bdp), "beta": Fraction(room, bdp)},
        columns={**scaled, "Q": [int(delay) for delay in unknown]},
    )


def broken(recorded):
    """The names of the laws, of the network and of senders, that an execution breaks."""
    beta = Buffer("exactly", recorded.constants["beta"])
    return {law.name for law in MODEL.laws(observed(MODEL, beta, 1, recorded, ())) if law.formula is not True}


@pytest.mark.parametrize("name", ["aimd", "constant_window"])
def test_runs_obey_the_laws(name):
    """Windows of whole packets, and no rate."""
    runs_of = [execution(name, seed) for seed in SEEDS]
    assert [broken(recorded) for recorded in runs_of] == [set()] * len(SEEDS)
    assert name == "constant_window" or any(recorded.columns["L"][-1] for recorded in runs_of)


def test_what_the_published_timeout_forbids_happens():
    """It fires whenever the queue is empty after any loss, and nothing may be lost then. A burst into an empty link may
    lose packets."""
    found = [broken(execution("reno", seed)) for seed in SEEDS]
    assert set().union(*found) == {"timeout_detects_all"} and set() in found


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
