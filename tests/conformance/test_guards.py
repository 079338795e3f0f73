"""Guards: an exported envelope sends the requested rate if it lies in the envelope, otherwise the nearest rate."""

import os
from math import floor
from random import Random

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.deployment.emulation import flows, kinds, link, machine, run
from ccmatic.deployment.emulation.measures import measures
from ccmatic.deployment.exporting import header, targets
from ccmatic.worlds.runtime import build
from ccmatic.worlds.runtime.library import Library
from support.cli import run as command
from support.machine import needs_bpf, needs_compiler, on_time

PACKET, RTT = 1000, 10**9
WIDE = "cc_qdel_wide"
CROSSED = "def rate(C_L, C_U):\n    return between(C_L / 2, C_U)\n"


@pytest.fixture(scope="module")
def wide():
    return Library(header.make(WIDE, guarding=True))


@needs_compiler
def test_the_rate_is_the_nearest_that_the_envelope_has(wide):
    rng = Random(1)
    chosen = set()
    for _ in range(500):
        beliefs = {"C_L": rng.randint(0, 10**6), "qdel_L": rng.choice((0, 1))}
        low, high = wide.export.controller.rates(beliefs)
        wanted = rng.randint(0, 2 * 10**6)
        found = wide.decide(beliefs, PACKET, wanted)
        assert found == min(floor(high), max(floor(low), wanted))
        chosen.add((found == wanted, found == floor(low), found == floor(high)))
    assert {(True, False, False), (False, True, False), (False, False, True)} <= chosen


@needs_compiler
def test_what_is_wanted_first_in_a_step_counts_for_all_of_it(wide):
    """Rates are of steps: what losses tell of the link rests on that."""
    sender = wide.sender(PACKET, RTT)
    step = sender.step_ns
    sender.start(C_L=100 * PACKET, C_U=10**9)
    least, most = (times * 100 * PACKET * 10**9 // step for times in (1.5, 2))
    assert sender.rate(step // 2) == most
    assert sender.clamp(step // 2, 0) == least
    assert sender.clamp(step // 2 + 1, 10**12) == least == sender.rate(step - 1)
    sender.sent(step, 150 * PACKET)
    assert sender.clamp(step + 1, 10**12) == most == sender.clamp(2 * step - 2, 0)
    sender.sent(2 * step, 150 * PACKET)
    within = (least + most) // 2
    assert abs(sender.clamp(2 * step + 1, int(within)) - within) <= 1


@pytest.mark.parametrize("flow, message", [
    (f"bpf:{WIDE}", "is an envelope, which has no rate of its own to send at"),
    (f"udp:{WIDE}", "is an envelope, which has no rate of its own to send at"),
    (f"guard:{WIDE}:vegas_", "there is no guard around 'vegas_'; known: bbr, cubic, reno"),
    ("guard:cc_qdel:cubic", "cc_qdel is no envelope; expected a controller that returns `between(low, high)`"),
    ("guard:aimd:cubic", "aimd is no envelope"),
    ("guard:cubic", "expected an envelope and what to put it around, such as guard:cc_qdel_wide:cubic"),
])  # fmt: skip
def test_what_is_no_guard_is_said(flow, message):
    with pytest.raises(InputError) as raised:
        kinds.flow(flow)
    assert message in str(raised.value)


def test_nothing_is_sent_in_an_envelope_whose_ends_cross(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crossed.py").write_text(CROSSED)
    with pytest.raises(InputError) as raised:
        kinds.flow("guard:crossed.py:cubic")
    assert str(raised.value).startswith("crossed.py:2: low is above high at C_L = ")


def test_a_guard_around_what_the_kernel_lacks_is_said(monkeypatch):
    monkeypatch.setattr(flows, "in_kernel", lambda name: False)
    with pytest.raises(InputError, match="this kernel has no bbr to guard; expected one of"):
        kinds.flow(f"guard:{WIDE}:bbr")


@pytest.mark.parametrize("options, message", [
    ([WIDE, "--target", "bpf"], "is an envelope, which has no rate of its own to send at"),
    ([WIDE, "--target", "udp", "--around", "cubic"], "--around cubic for the target udp; expected --target bpf"),
    (["cc_qdel", "--target", "bpf", "--around", "cubic"], "cc_qdel is no envelope"),
    (["crossed.py", "--target", "c"], "crossed.py:2: low is above high at C_L = "),
])  # fmt: skip
def test_what_cannot_be_exported_is_said(options, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "crossed.py").write_text(CROSSED)
    code, _, error = command("export", *options, "--out", "out")
    assert code == 2 and message in error and not (tmp_path / "out").exists()


@needs_bpf
@pytest.mark.real_time
@pytest.mark.parametrize("around", ["cubic", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bbr", "reno"))])
def test_the_kernel_takes_each_guard(around, tmp_path):
    targets.write(header.make_guard(WIDE, around), "bpf", tmp_path)
    name = f"guard_{os.getpid()}"
    program, loader = build.build_bpf(tmp_path, name)
    machine.build(machine.TIED, tmp_path)
    with machine.Process("the loader", [loader, program], tmp_path) as process:
        process.wait_until_ready()
        assert name in flows.available()
    assert name not in flows.available()


@needs_bpf
@pytest.mark.real_time
@pytest.mark.slow
@pytest.mark.parametrize("around", ["cubic", "bbr", "reno"])
def test_a_guarded_flow_keeps_to_its_envelope(iperf3, around):
    """Never above it; below it in steps in which a machine that stalls sent late."""
    asked = link.of_texts("24mbit", "20ms", "4bdp")
    flow = f"guard:{WIDE}:{around}"
    done = on_time(
        lambda: run.run_flows(asked, [kinds.request(flow)], 6),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )
    [found] = measures(done, 2).flows
    assert found.guard.steps > 80 and found.guard.above < 3 and found.guard.below < 0.2 * found.guard.steps
    assert found.beliefs.false == [] and found.utilisation > 0.5
