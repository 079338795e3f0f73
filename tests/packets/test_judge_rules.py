"""Every rule passes a recording that keeps it, fails one that breaks it, and says on which scenarios it is asked."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.judging import words
from ccmatic.judging.rules import CLEAN, RULES, Evidence, chosen
from ccmatic.judging.scenario import SECOND, lawful
from ccmatic.judging.verdicts import Verdict, judged_line, measured_words

PACKET = np.dtype(
    [("arrival", "<i8"), ("admitted", "<i8"), ("released", "<i8"), ("size", "<i4"), ("flow", "<i2"), ("lost", "i1"),
     ("marked", "i1")]
)  # fmt: skip
SAMPLE = np.dtype(
    [("time", "<i8"), ("window", "<i8"), ("in_flight", "<i8"), ("rtt", "<i8"), ("rate", "<i8"), ("flow", "<i2"),
     ("flags", "<i2"), ("pad", "<i4")]
)  # fmt: skip
PATH = "24 mbit, rtt 40 ms, buffer 240000 b, jitter 40 ms"
BDP = 120_000


def recording(scenario, shares=(1.0,), window=lambda t: BDP, in_flight=None, failure=None, change=lambda packets: None):
    """A made-up recording: each flow has a share of the link, constant or a function of the time in s."""
    flows, samples = [], []
    grown = max([0, *(e.rtt - scenario.rtt for e in scenario.events if hasattr(e, "rtt"))])
    for number, share in enumerate(shares):
        at, times = 0.0, []
        while at < scenario.duration:
            now = share(at / SECOND) if callable(share) else share
            if now:
                times.append(at)
            at += scenario.packet * 8 * SECOND / (scenario.rate * max(now, 0.01))
        packets = np.zeros(len(times), PACKET)
        packets["arrival"] = packets["admitted"] = np.array(times, np.int64)
        packets["released"] = packets["arrival"] + scenario.rtt + grown
        packets["size"], packets["flow"] = scenario.packet, number
        flows.append(packets)
        sampled = np.zeros(scenario.duration // 10**7, SAMPLE)
        sampled["time"] = np.arange(len(sampled)) * 10**7
        sampled["window"] = [window(t / SECOND) for t in sampled["time"]]
        sampled["in_flight"] = [(in_flight or window)(t / SECOND) for t in sampled["time"]]
        sampled["flow"] = number
        samples.append(sampled)
    packets = np.concatenate(flows)
    packets = packets[np.argsort(packets["arrival"], kind="stable")]
    change(packets)
    packets["released"][(packets["lost"] != 0) | (packets["released"] > scenario.duration)] = -1
    return SimpleNamespace(scenario=scenario, packets=packets, samples=np.concatenate(samples), failure=failure)


def judged(name, on, events, good, bad, controller="cubic", seconds=30, others=(), flows=1):
    """The measurements of a rule, of a recording that keeps it and of one that breaks it."""
    scenario = lawful(words.scenario_of(on, events, seconds, others, flows=flows))
    rule = RULES[name]
    assert rule.asked(scenario, controller) is None
    usual = recording(scenario)
    for run in (good, bad):
        run = recording(scenario, **{"shares": (1.0,) * len(scenario.flows), **run})
        yield rule.measure(Evidence(run, controller, usual, usual))


def late(instant, before, after):
    """A function of the time that has another value from an instant on."""
    return lambda t: before if t < instant else after


def losing(count, first=10.0):
    """A change of packets: after an instant, every packet of some is lost, at a full buffer."""

    def change(packets):
        place = int(np.searchsorted(packets["arrival"], int(first * SECOND)))
        packets["lost"][place : place + count] = 1

    return change


def dropped(packets):
    packets["lost"][np.searchsorted(packets["arrival"], 10 * SECOND)] = 4


def probes(t):
    """A sender that is silent from 2 s to 17 s, but for probes after 2, 3, 5 and 9 s, and then uses the link."""
    return 0.001 if 2.01 < t < 17 else 1.0


def probed(packets):
    """Lose a packet at 2 s, and the probe at 9 s."""
    for instant in (2, 9):
        packets["lost"][np.searchsorted(packets["arrival"], instant * SECOND)] = 4


def echoed(packets):
    packets["marked"][np.searchsorted(packets["arrival"], 10 * SECOND) :] = 1


def at_once(packets):
    burst = (packets["arrival"] >= 11 * SECOND) & (packets["arrival"] < 11.04 * SECOND)
    packets["arrival"][burst] = 11 * SECOND + np.arange(burst.sum())


def paused(t):
    return 0 if 10 <= t < 11 else 1.0


CASES = {
    "alive": ("alive", PATH, [], {}, {"shares": (late(10, 1.0, 0),)}),
    "alive, a failure": ("alive", PATH, [], {}, {"failure": "panicked: subtraction with overflow"}),
    "start-up": ("start-up", PATH, ["hold 20 ms at 500 ms"], {}, {"shares": (late(20, 0.5, 1.0),)}),
    "utilisation": ("utilisation", PATH, [], {}, {"shares": (late(15, 1.0, 0.3),)}),
    "losses": ("losses", PATH, [], {"change": losing(60)}, {"change": losing(700)}),
    "window": ("window", PATH, [], {"window": lambda t: 2 * BDP}, {"window": late(20, BDP, 15 * BDP)}),
    "minimum": ("minimum", PATH, [], {"window": lambda t: 2400}, {"window": late(20, BDP, 1200)}),
    "forgetting": ("forgetting", PATH, ["hold 30 ms at 3 s"], {"shares": (0.9,)}, {"shares": (late(3, 1.0, 0.5),)}),
    "timeout": (
        "timeout",
        "24 mbit, rtt 20 ms, buffer 480000 b, jitter 120 ms",
        ["hold 120 ms at 10 s"],
        {},
        {"window": late(10.1, BDP, BDP / 2)},
    ),
    "recovery": (
        "recovery",
        PATH,
        ["outage 1 s at 5 s"],
        {"shares": (late(25, 0, 1.0),)},
        {"shares": (late(5, 1.0, 0.1),)},
    ),
    "recovery, losses of probes": (
        "recovery",
        PATH,
        ["lose 9 packets at 2 s"],
        {"shares": (probes,), "change": probed},
        {"shares": (late(2, 1.0, 0.1),), "change": probed},
    ),
    "rate-change": ("rate-change", PATH, ["rate x1/2 at 5 s"], {}, {"shares": (late(5, 1.0, 0.1),)}),
    "rtt-change": (
        "rtt-change",
        PATH,
        ["rtt x1.5 at 3 s"],
        {},
        {"shares": (late(3, 1.0, 0.3),)},
        "cubic",
        40,
    ),
    "decrease-cubic": (
        "decrease-cubic",
        PATH,
        ["lose 1 packet at 10 s"],
        {"window": late(10.05, BDP, 0.7 * BDP), "change": dropped},
        {"window": late(10.05, BDP, 0.6 * BDP), "change": dropped},
    ),
    "decrease-reno": (
        "decrease-reno",
        PATH,
        ["lose 1 packet at 10 s"],
        {"window": late(10.05, BDP, 0.5 * BDP), "change": dropped},
        {"window": late(10.05, BDP, 0.7 * BDP), "change": dropped},
        "reno",
    ),
    "idle": (
        "idle",
        PATH,
        ["idle 1 s at 10 s"],
        {"shares": (paused,), "change": losing(1, 5)},
        {"shares": (paused,), "change": losing(1, 5), "window": late(11.02, BDP, 3 * BDP)},
    ),
    "restart": (
        "restart",
        PATH,
        ["idle 1 s at 10 s"],
        {"shares": (paused,)},
        {"shares": (paused,), "change": at_once},
    ),
    "app-limited": (
        "app-limited",
        PATH,
        ["limit 1 mbit for 20 s at 1 s"],
        {"shares": (0.8,), "window": late(2, 15_000, BDP)},
        {"shares": (0.04,), "window": late(2, 1500, BDP)},
    ),
    "app-limited, growth after the limit": (
        "app-limited",
        PATH,
        ["limit 1 mbit for 5 s at 1 s"],
        {"shares": (late(6, 0.04, 0.8),), "window": late(6.1, 15_000, 10 * BDP)},
        {"shares": (late(6, 0.04, 0.8),), "window": late(5.9, 15_000, 10 * BDP)},
    ),
    "idle, growth by a packet per round trip": (
        "idle",
        "24 mbit, rtt 10 ms, buffer 60000 b, jitter 200 ms",
        ["idle 1 s at 10 s"],
        {"shares": (paused,), "change": losing(1, 5), "window": lambda t: 30_000 + max(0, t - 11) * 75_000},
        {"shares": (paused,), "change": losing(1, 5), "window": late(11.02, 30_000, 65_000)},
    ),
    "share-itself": (
        "share-itself",
        "24 mbit, rtt 40 ms, buffer 240000 b",
        [],
        {"shares": (0.6, 0.4)},
        {"shares": (0.95, 0.05)},
        "cubic",
        60,
        (),
        2,
    ),
    "share-cubic": (
        "share-cubic",
        "24 mbit, rtt 40 ms, buffer 240000 b",
        [],
        {"shares": (0.3, 0.7)},
        {"shares": (0.95, 0.05)},
        "bbr",
        60,
        ("cubic",),
    ),
    "marks": (
        "marks",
        "24 mbit, rtt 40 ms, buffer 240000 b, threshold 60000 b",
        [],
        {"change": echoed, "window": late(10.1, BDP, 0.8 * BDP)},
        {"change": echoed},
    ),
    "marks, losses in spite of them": (
        "marks",
        "24 mbit, rtt 40 ms, buffer 240000 b, threshold 60000 b",
        [],
        {"change": echoed, "window": late(10.1, BDP, 0.8 * BDP)},
        {"change": lambda packets: (echoed(packets), losing(3, 12)(packets)), "window": late(10.1, BDP, 0.8 * BDP)},
    ),
    "determinism": ("determinism", PATH, [], {}, {"shares": (late(15, 1.0, 0.9),)}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_rule_passes_a_good_recording_and_fails_a_bad_one(case):
    good, bad = judged(*CASES[case])
    assert good.margin >= 0 > bad.margin


@pytest.mark.parametrize("case", CASES)
def test_a_sentence_shows_whether_a_rule_is_broken(case):
    """'1.47 times the limit; at most 1.5 times that window' of a broken rule looked kept."""
    for measured in judged(*CASES[case]):
        line = judged_line("toy", "1", Verdict(RULES[CASES[case][0]], measured))
        said = measured_words(line)
        shown = re.search(r"broken by (less than 1|\d+) %", said)
        assert bool(shown) == (measured.margin < 0 and measured.margin != -1)
        if "the limit" in line.unit:
            assert "times the limit (at most 1)" in said and (line.value > 1) == (line.verdict == "broken")


def test_every_rule_has_a_case_a_threshold_and_a_source():
    assert {case[0] for case in CASES.values()} == {*RULES} and len(RULES) >= 12
    assert all(rule.definition and rule.threshold and rule.source for rule in RULES.values())
    assert len(CLEAN) >= 3


@pytest.mark.parametrize(
    ("name", "on", "events", "reason"),
    [
        ("utilisation", PATH, ["lose 1 packet at 5 s"], "events such as 'loss'"),
        ("utilisation", "24 mbit, rtt 40 ms, buffer 60000 b", [], "the buffer is below"),
        ("start-up", PATH, ["hold 9 ms at 1 s", "hold 9 ms at 2 s"], "two events disturb the start-up"),
        ("forgetting", PATH, ["hold 9 ms at 1 s", "hold 9 ms at 2 s"], "the disturbance lasts"),
        ("window", PATH, ["idle 1 s at 5 s"], "the application limits the sender"),
        ("app-limited", PATH, [], "never limits"),
        ("marks", PATH, [], "the link marks nothing"),
        ("losses", "2 mbit, rtt 80 ms, buffer 16 bdp", [], "a round trip with a full buffer takes 1.36 s"),
        ("share-cubic", PATH, [], "no flow of cubic shares the link"),
        ("timeout", PATH, ["hold 40 ms at 5 s"], "the hold is below 3 R_m"),
        ("decrease-cubic", PATH, ["lose 4 packets at 5 s"], "at most 3 packets in a row"),
        ("alive", f"{PATH}, loss 20%", [], "above 10 %"),
    ],
)
def test_a_rule_is_asked_only_where_its_premises_hold(name, on, events, reason):
    scenario = lawful(words.scenario_of(on, events, 30))
    assert reason in RULES[name].asked(scenario, "cubic")


def test_a_rule_about_a_controller_is_asked_of_no_other():
    scenario = lawful(words.scenario_of(PATH, ["lose 1 packet at 10 s"], 30))
    assert "is about cubic" in RULES["decrease-cubic"].asked(scenario, "bbr")


def test_an_unknown_rule():
    assert chosen(("alive",)) == (RULES["alive"],) and len(chosen()) == len(RULES)
    with pytest.raises(InputError, match="did you mean 'utilisation'"):
        chosen(("utilization",))
