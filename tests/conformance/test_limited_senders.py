"""Shipped controllers under applications that pause: windows do not grow, and rates are not forgotten."""

import pytest

import ccmatic as cm
from support.machine import needs_compiler

pytestmark = needs_compiler

PATH = "12 mbit, rtt 40 ms, buffer 1 bdp"


@pytest.mark.parametrize("controller", ["reno", "cubic", "vegas", "copa_stalls", "hystart"])
def test_a_window_does_not_grow_while_the_application_limits_the_sender(controller):
    limited = ["limit 1 mbit for 10 s at 2 s"]
    [verdict] = cm.judge(controller, PATH, limited, rules=["app-limited"]).verdicts
    assert verdict.verdict == "kept"


@pytest.mark.parametrize("controller", ["bbr", "bbr_v1"])
def test_a_rate_is_not_forgotten_over_an_idle_time(controller):
    judged = cm.judge(controller, PATH, ["idle 2 s at 8 s"], rules=["alive"])
    packets = judged.run.packets
    after = packets["size"][(packets["released"] > 10.5e9) & (packets["released"] < 12.5e9)].sum()
    assert after * 8 / 2 > 0.8 * 12e6


def test_an_exported_hystart_begins_with_slow_start():
    windows = cm.judge("hystart", PATH, rules=["alive"], seconds=2).run.samples["window"]
    assert windows.max() >= 40 * 1500
