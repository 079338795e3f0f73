"""Policies that choose within an envelope: their rate lies in it, whatever the network outputs."""

import ctypes
from collections import deque
from fractions import Fraction

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.controllers import load
from ccmatic.deployment import policies
from ccmatic.deployment.emulation import kinds, link, run
from ccmatic.deployment.emulation.measures import measures
from ccmatic.networks.trace_export import Schedule
from ccmatic.proving import load_result
from ccmatic.worlds.runtime.library import CompiledSender, Library, LibraryFlow
from support import ROOT
from support.benchmarks import defined_by
from support.cli import run as command
from support.machine import needs_compiler, on_time
from support.policies import policy, said
from support.sampling import each_nth

ENVELOPE = "cc_qdel_wide"
PROOF = ROOT / "results" / "proofs" / "cc_qdel-cc_qdel_wide_T11.json"

PACKET, RM = 1500, 20 * 10**6

#: Networks that answer always alike, and one of random weights.
ALWAYS = {"least": -9, "middle": 0, "most": 9}


def guided(path, action=None, **options):
    """Return a policy in the envelope. `action` is its constant output; None: random weights."""
    layers = None if action is None else [(np.zeros((18, 1)), [action])]
    return policy(path, layers, act=f"envelope:{ENVELOPE}", **options)


class Guided(LibraryFlow):
    """One flow of it."""

    beliefs = CompiledSender.beliefs

    def allowed(self, wanted):
        """The rate nearest to one that is wanted, bytes per step."""
        return self._call("allowed", ctypes.c_uint64, (ctypes.c_uint64, wanted))

    def observation(self, size):
        """Return its current observation."""
        seen = np.zeros(size, np.float32)
        self._call("observation", None, (ctypes.c_void_p, seen.ctypes.data))
        return seen


def steps(sender, rate, count):
    """Send over a link of `rate` packets per step for some steps of R_m; yield the rates in bytes per step."""
    served, due, answers = 0, 0, deque()
    for end in range(RM, count * RM + 1, RM):
        while min(due, answers[0][0] if answers else due) <= end:
            if answers and answers[0][0] <= due:
                sender.acked(*answers.popleft(), PACKET)
                continue
            sender.sent(due, PACKET)
            served = max(due, served) + RM // rate
            answers.append((served + RM, due))
            due += PACKET * 10**9 // sender.rate(due)
        yield sender.rate(end + 1) * RM / 10**9


@needs_compiler
@pytest.mark.parametrize("action", each_nth(2, [None, *ALWAYS.values()]), ids=["random", *ALWAYS])
def test_c_sends_where_in_the_envelope_the_network_says(action, tmp_path):
    given, envelope = guided(tmp_path / "made.json", action), load(ENVELOPE)
    library = Library(policies.exported(given))
    sender, chosen, known = Guided(library, PACKET, RM), set(), 0
    for rate in steps(sender, 40, 80):
        low, high = envelope.allowed({**sender.beliefs(), "MSS": PACKET, "R_m": 1, "D": 1})
        wanted = float(np.clip(said(given, sender.observation(18)), -1, 1))
        assert low - 1 <= rate <= high + 1
        assert rate == pytest.approx(float(low + (high - low) * (wanted + 1) / 2), rel=1e-4, abs=2)
        chosen.add((rate > 3000, low == 0))
        known = max(known, sender.beliefs()["C_L"])
    assert known > 20 * PACKET and len(chosen) > 1


@needs_compiler
@pytest.mark.parametrize("action", [2, -2], ids=["up", "down"])
def test_c_sends_what_a_guarded_policy_wants_within_the_envelope(action, tmp_path):
    """The policy changes the rate of the last step by 2 %. Where that leaves the envelope, the edge applies."""
    policy(tmp_path / "made.json", [(np.zeros((18, 1)), [action])])
    sender = Guided(Library(policies.guarded(f"{ENVELOPE}:policy:{tmp_path}/made.json")), PACKET, RM)
    envelope, places, last = load(ENVELOPE), set(), 2 * PACKET  # the guard limits the first ten packets to two
    for rate in steps(sender, 40, 80):
        low, high = envelope.allowed({**sender.beliefs(), "MSS": PACKET, "R_m": 1, "D": 1})
        wanted = max(PACKET, last * (1 + action / 100))
        assert rate == pytest.approx(float(np.clip(wanted, max(PACKET, low), max(PACKET, high))), rel=1e-4, abs=2)
        places.add(-1 if wanted < low else 1 if wanted > high else 0)
        last = rate
    assert len(places) > 1


def test_a_policy_in_a_guard_is_exported(tmp_path):
    policy(tmp_path / "made.json")
    around = ("--around", f"policy:{tmp_path}/made.json", "--out", tmp_path / "out")
    code, _, _ = command("export", ENVELOPE, "--target", "udp", *around)
    text = (tmp_path / "out" / "made.h").read_text()
    assert code == 0 and "An envelope limits its rates" in text and "Proved of made by cc_qdel-cc_qdel_wide_T11" in text
    code, _, error = command("export", ENVELOPE, "--target", "bpf", "--around", f"policy:{tmp_path}/made.json")
    assert code == 2 and "expected --target udp or c" in error


@needs_compiler
def test_judge_runs_a_policy_in_a_guard(tmp_path):
    policy(tmp_path / "made.json", [(np.zeros((18, 1)), [2])])
    code, lines, _ = command("judge", "run", f"guard:{ENVELOPE}:policy:{tmp_path}/made.json", "--rule", "utilisation")
    assert code in (0, 1) and "utilisation" in lines


@pytest.mark.parametrize("text, message", [
    ("cc_qdel_wide:policy:", "expected guard:ENVELOPE:policy:FILE"),
    (":policy:made.json", "expected guard:ENVELOPE:policy:FILE"),
    ("cc_qdel_wide:policy:none.json", "none.json"),
    ("cc_qdel:policy:made.json", "leaves no choice; expected an envelope"),
    ("cc_qdel_wide:policy:inside.json", "inside acts in the envelope cc_qdel_wide; expected a policy without one"),
    ("cc_qdel_wide:policy:half.json", "half measures intervals of 1/2 R_m; expected an R_m at least"),
])  # fmt: skip
def test_no_flow_has_a_guard_that_cannot_be(text, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    policy(tmp_path / "made.json")
    policy(tmp_path / "half.json", interval="1/2")
    guided(tmp_path / "inside.json")
    with pytest.raises(InputError) as refused:
        kinds.flow(f"guard:{text}")
    assert message in str(refused.value)


def test_a_guarded_policy_sends_over_an_emulated_link_and_no_step_is_outside(emulator, tmp_path):
    policy(tmp_path / "made.json", [(np.zeros((18, 1)), [2])])
    asked = kinds.request(f"guard:{ENVELOPE}:policy:{tmp_path}/made.json")
    done = on_time(
        lambda: run.run_flows(link.of_texts("12mbit", "20ms", "12bdp"), [asked], 3),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )
    [found] = measures(done, 1.5).flows
    assert found.guard.above == 0 and found.guard.steps > 80 and found.utilisation > 0.5


def test_the_kernel_takes_none(tmp_path):
    guided(tmp_path / "made.json")
    code, _, error = command("export", tmp_path / "made.json", "--target", "bpf", "--out", tmp_path / "out")
    assert code == 2 and "expected --target udp or c" in error and not (tmp_path / "out").exists()


@pytest.mark.parametrize("options, message", [
    ({"act": "envelope:cc_qdel"}, "act is 'envelope:cc_qdel', which leaves no choice; expected an envelope"),
    ({"act": "envelope:cc_qdel_wode"}, "cc_qdel_wode"),
    ({"act": "envelope:cc_qdel_wide", "interval": "1/2"}, "measures intervals of 1/2 R_m; expected an R_m at least"),
])  # fmt: skip
def test_what_cannot_be_kept_to_is_said(options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        policies.exported(policy(tmp_path / "made.json", **options))


def test_an_envelope_whose_least_is_above_its_most_is_refused(tmp_path):
    (tmp_path / "bad.py").write_text("def rate(C_L):\n    return between(2 * C_L, C_L)\n")
    policy(tmp_path / "made.json", act=f"envelope:{tmp_path}/bad.py")
    code, _, error = command("export", tmp_path / "made.json", "--target", "c", "--out", tmp_path / "out")
    assert code == 2 and "low is above high at" in error and not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="low is above high at"):
        kinds.flow(f"policy:{tmp_path}/made.json")


def test_it_sends_over_an_emulated_link_and_no_step_is_outside(emulator, tmp_path):
    guided(tmp_path / "made.json")
    asked = kinds.request(f"policy:{tmp_path}/made.json")
    done = on_time(
        lambda: run.run_flows(link.of_texts("12mbit", "20ms", "12bdp"), [asked], 3),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )
    [found] = measures(done, 1.5).flows
    assert found.guard.above == 0 and found.guard.steps > 80 and found.utilisation > 0.5


@pytest.fixture
def envelopes():
    """benchmarks/studies/envelopes.py."""
    for name in ("jax", "gymnasium", "pettingzoo"):
        pytest.importorskip(name, reason=f"no {name}: pip install -e '.[rl]'")
    return defined_by("envelopes")


@pytest.mark.slow
def test_what_a_schedule_holds_is_held_over_and_over(envelopes):
    """Admitted at once; served one byte in two from the first step on, all by the end of the second."""
    schedule = Schedule(Fraction(1), 100, 1, None, 0, ((0, 0, 0), (100, 100, 50), (200, 200, 200)))
    hold = envelopes["as_in"](schedule)(None, 64_000, 64_000)
    held = [(hold(now) - now) / 64_000 for now in range(0, 128_001, 32_000)]
    assert held == [0, 0.5, 0.34375, 0.171875, 0]
    assert all(hold(now + 128_000) - hold(now) == 128_000 for now in range(0, 128_000, 1000))


@pytest.mark.slow
def test_bounds_hold_of_a_policy_in_the_envelope_and_break_without_it(envelopes, tmp_path):
    schedule = Schedule(Fraction(1), 10, 1, None, 0, ((0, 0, 0), (20, 20, 0), (30, 30, 25), (40, 40, 40)))
    result, broken = load_result(PROOF), {}
    for name, made in {"inside": guided(tmp_path / "in.json"), "outside": policy(tmp_path / "out.json")}.items():
        trial, runs = envelopes["counted"](result, made, [None, envelopes["benign"], envelopes["as_in"](schedule)])
        assert trial.windows.total() > 10 and len(runs) == 3
        broken[name] = trial.broken.total()
        allowed = {lemma for lemma, *_ in trial.closest_values()}
        assert allowed and not allowed & trial.broken.keys()
    assert broken["inside"] == 0 < broken["outside"]
