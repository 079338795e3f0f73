"""Executions of emulated links obey the laws of their networks, at the ends of steps.

The decisions are those of a run in real time (ccmatic/deployment/emulation/decisions.h), but senders are simulated and
time is virtual. `support/emulated_path.py` describes how packets count.
"""

import shutil
from random import Random

import pytest

from ccmatic.contracts import PACKETS
from conformance import links
from conformance.links import Run, by_rate, by_window
from conformance.updates import library
from support import ROOT, changing_paths, emulated_path, window_runs, window_senders
from support.applications import Application
from support.emulated_path import EmulatedPath
from support.machine import needs_compiler
from support.sampling import each_nth

pytestmark = needs_compiler


def rate(model):
    return lambda seed: {law for _, outputs in by_rate(Run(model, seed)) for law in outputs["broken laws"]}


def window(model):
    return lambda seed: {law for _, outputs in by_window(Run(model, seed)) for law in outputs["broken laws"]}


def change(seed):
    return changing_paths.broken(seed, jittery=True)


def pauses(seed):
    rng = Random(seed)
    built, offers = library(rng.choice(window_senders.CONTROLLERS)), Application(rng)
    recorded = window_runs.execution(built, seed, rng.choice((0, 9)), offers=offers)
    return window_runs.broken(recorded, "cbr_delay_windows:application=pauses")


def aggregation(seed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emulated_path, "PATTERNS", ("aggregation",))
        return (rate if seed % 5 else window)(("cbr_delay_windows", "cbr_delay")[seed % 5 > 0])(seed)


def mixed(by_rate, by_window):
    """Four runs at a rate for each run by a window, which takes longer."""
    return lambda seed: (rate(by_rate) if seed % 5 else window(by_window))(seed)


#: For each network, the laws that the run of a seed breaks.
NETWORKS = {
    "policer": mixed("policer", "policer_windows"),
    "policer before a bottleneck": window("policed"),
    "marks": mixed("marking", "marking_windows"),
    "losses of 1 %": mixed("lossy", "lossy_windows"),
    "losses of a third": rate("lossy:loss_rate=1/3"),
    "aggregation": aggregation,
    "changing paths": change,
    "pauses": pauses,
}


@pytest.fixture(autouse=True)
def emulated_paths(monkeypatch):
    monkeypatch.setattr(links, "Path", EmulatedPath)
    monkeypatch.setattr(window_runs, "Path", EmulatedPath)


def broken(network, seeds):
    return set().union(*map(NETWORKS[network], seeds))


@pytest.mark.parametrize("network", NETWORKS)
def test_executions_obey_the_laws(network):
    assert broken(network, range(15)) == set()


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_ten_thousand_executions_obey_the_laws(network):
    assert broken(network, range(10_000, 20_000)) == set()


DECISIONS = "decisions.h"
#: Faults: the network that shows the fault, its file, the right and the wrong text.
FAULTS = {
    "the policer refills at once": ("policer", "policer", "if (link->full || link->tokens > room)", "if (1)"),
    "the policer passes everything": (
        "policer before a bottleneck", "policed", "if (!policer_offer(&link->policer, now, size, flow))", "if (0)",
    ),
    "marks come too early": (
        "marks", "cbr_delay", "link->marked = backlog >", "link->marked = backlog + 3 * work >",
    ),
    "no packet is marked": ("marks", DECISIONS, ", outcome.marked != 0}", ", 0}"),
    "losses above their share": (
        "losses of 1 %", "lossy", "link->own[2] * denominator", "9 * link->own[2] * denominator",
    ),
    "a buffer without end": ("losses of a third", DECISIONS, ".buffer = config.buffer,", ".buffer = NEVER / SECOND,"),
    "long batches": ("aggregation", DECISIONS, "last += 1 + below(config.jitter)", "last += 2 * config.jitter"),
    "a change that delays no packet": ("changing paths", DECISIONS, "decision.planned += config.extra", "(void)0"),
    "a change that keeps its queue": ("changing paths", DECISIONS, "config.rates[i].flush = number()", "number()"),
    "a change that keeps its buffer": ("changing paths", DECISIONS, "config.rates[i].buffer = number()", "number()"),
    "tokens that a pause keeps": ("pauses", "cbr_delay", "if (link->end < now) {", "if (link->end < now - 5000000) {"),
}  # fmt: skip


@pytest.mark.parametrize("fault", each_nth(2, FAULTS))
def test_a_planted_fault_breaks_a_law(fault, tmp_path, monkeypatch):
    network, name, right, wrong = FAULTS[fault]
    for header in (ROOT / "models").glob(f"*/{PACKETS}"):
        (tmp_path / header.parent.name).mkdir()
        shutil.copy(header, tmp_path / header.parent.name)
    shutil.copy(emulated_path.DECISIONS / DECISIONS, tmp_path)
    file = tmp_path / name if name == DECISIONS else tmp_path / name / PACKETS
    assert file.read_text().count(right) == 1
    file.write_text(file.read_text().replace(right, wrong))
    monkeypatch.setattr(emulated_path, "DECISIONS", tmp_path)
    monkeypatch.setattr(emulated_path, "MODELS", tmp_path)
    assert any(NETWORKS[network](seed) for seed in range(1, 60))  # without losses, windows would grow without end
