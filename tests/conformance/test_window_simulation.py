"""Flows that send by a window, simulated packet by packet: executions of `ccac2021`, and what is made of them."""

from fractions import Fraction
from functools import cache

import pytest

from ccmatic.deployment.exporting import header
from ccmatic.evaluation import runs
from ccmatic.networks.simulation import WindowFlow, windows
from ccmatic.worlds.runtime.library import Library
from support import window_runs
from support.machine import needs_compiler
from support.window_runs import broken

PUBLISHED = "ccac2021"
SEEDS = range(4, 8)

pytestmark = needs_compiler


@cache
def built(name):
    return Library(header.make(name))


def execution(name, seed):
    """A run of a controller from its beginning on."""
    return window_runs.execution(built(name), seed)


@pytest.mark.parametrize("name", ["aimd", "constant_window"])
def test_runs_obey_the_published_laws(name):
    """From their beginning on."""
    runs_of = [execution(name, seed) for seed in SEEDS]
    assert [broken(recorded, PUBLISHED) for recorded in runs_of] == [set()] * len(SEEDS)
    assert name == "constant_window" or any(recorded.columns["L"][-1] for recorded in runs_of)


def test_losses_are_found_by_acknowledgements_and_by_timeouts():
    """In runs that obey the laws."""
    columns = [execution("reno", seed).columns for seed in range(12)]
    assert any(run["found"][-1] for run in columns)
    assert any(Ld > found for run in columns for Ld, found in zip(run["Ld"], run["found"], strict=True))


def test_what_the_published_timeout_forbids_happens():
    """It fires whenever the queue is empty after any loss, and nothing may be lost then. A burst into an empty link may
    lose packets."""
    found = [broken(execution("reno", seed), PUBLISHED) for seed in SEEDS]
    assert set().union(*found) == {"timeout_detects_all"} and set() in found


@pytest.mark.parametrize("column, law", [("found", "detected_by_dupacks"), ("Ld", "detected_by_either")])
def test_a_loss_that_is_not_found_in_time_breaks_a_law(column, law):
    """In executions, acknowledgements or timeouts detect a loss one step later."""
    late = [execution("reno", seed) for seed in range(12)]
    for run in late:
        run.columns[column] = [0, *run.columns[column][:-1]]
    assert any(law in broken(run, "cbr_delay_windows") for run in late)


def test_a_loss_found_too_early_breaks_a_law(monkeypatch):
    monkeypatch.setattr(windows, "DUPACKS", 2)
    assert any("not_detected_before_dupacks" in broken(execution("reno", seed), PUBLISHED) for seed in SEEDS)


def test_acknowledgements_that_come_too_early_break_a_law(monkeypatch):
    step = WindowFlow.step

    def early(self):
        step(self)
        self.learn(self.simulation.send(1))
        self.simulation._steps -= 1

    monkeypatch.setattr(WindowFlow, "step", early)
    assert any("sends_by_window_and_rate" in broken(execution("reno", seed), PUBLISHED) for seed in SEEDS)


@pytest.mark.parametrize("jitter", runs.JITTERS)
def test_reno_uses_a_link_whose_buffer_is_a_bdp(jitter):
    found = runs.run("reno", runs.Scenario((24,), 40, Fraction(1), jitter))
    assert found.utilisation > 0.9 and 0 < found.lost < 100 and found.rtt_ms.mean > 60 and not found.at_start


def test_a_constant_window_gets_a_packet_in_each_R_m():
    found = runs.run("constant_window", runs.Scenario((24,), 40, Fraction(1), "none"))
    assert found.utilisation == pytest.approx(1 / 80) and found.rtt_ms.mean == pytest.approx(40)
