"""Envelopes: `return between(low, high)` leaves the rate to any sender, and a verdict covers every choice."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ccmatic as cm
from ccmatic.controllers import parse
from ccmatic.logic import linear
from support.cli import lines, run
from support.sampling import each_nth

WIDE = """\
def rate(C_L, qdel_L):
    if qdel_L > 0:
        return between(0, C_L / 2)
    return between({low} * C_L, {high} * C_L)
"""
NETWORK = ["--model", "ccac", "--buffer", ">=6", "--horizon", "11", "--constrain-loss", "large-buffer"]
LARGE = cm.Query(cm.Network("ccac", ">=6", 11), constrain_loss="large-buffer")


def envelope(low="5 / 4", high="2"):
    return WIDE.format(low=low, high=high)


@cache
def judgement(low, high):
    """The answer about an envelope on a large buffer."""
    return cm.verify(envelope(low, high), LARGE)


@pytest.mark.parametrize("low, high", [("5 / 4", "2"), pytest.param("3 / 2", "7 / 4", marks=pytest.mark.slow)])
def test_every_controller_inside_one_that_holds_holds(low, high):
    assert judgement(low, high).verdict == "holds"


@pytest.mark.parametrize("low, high", each_nth(2, [("3 / 2", "3"), ("1", "2")]))
def test_one_that_is_too_wide_is_violated_by_a_choice_within_it(low, high):
    trace, controller = judgement(low, high).trace, parse(envelope(low, high))
    assert judgement(low, high).verdict == "violated"
    assert cm.replay(trace).outcome.value == "breaks"
    allowed, chosen = trace.allowed(controller), trace.columns["r"][1:]
    assert all(low <= r <= high for r, (low, high) in zip(chosen, allowed, strict=True))
    assert any(low < high for low, high in allowed)


def test_replay_refuses_a_rate_outside(tmp_path):
    trace = judgement("1", "2").trace
    r = list(trace.columns["r"])
    r[3] = trace.allowed(parse(envelope("1", "2")))[2].high + Fraction(1, 1000)
    faults = cm.replay(trace.with_columns(r=tuple(r))).faults
    assert "sender.rate_is_the_controllers at t=3" in faults


numbers = st.fractions(0, 4, max_denominator=8)


@settings(derandomize=True, max_examples=100, deadline=None)
@given(numbers, numbers, numbers, numbers, numbers)
def test_formula_and_python_allow_the_same_rates(C_L, C_U, qdel_L, alpha, r):
    high = "min(C_U, 2 * C_L) if qdel_L > R_m else C_U / 2"
    source = f"def rate(C_L, C_U, qdel_L, R_m):\n    return between(C_L / 2, {high})"
    controller = parse(source)
    values = {"C_L": C_L, "C_U": C_U, "qdel_L": qdel_L, "R_m": 1}
    allowed = controller.allowed({**values, "MSS": alpha})
    within = allowed is None or allowed.low <= r <= allowed.high
    assert controller.encode(values, linear(r), linear(alpha)) is within


def test_what_an_envelope_is():
    controller = parse(envelope())
    assert controller.is_envelope and not cm.load_controller("cc_qdel").is_envelope
    assert controller.rates({"C_L": 4, "qdel_L": 1}) == (0, 2) and controller.rates({"C_L": 4, "qdel_L": 0}) == (5, 8)
    assert "5/4·C_L ≤ rate ≤ 2·C_L" in controller.pretty()
    assert controller.shape() == parse(envelope("10 / 8", "2")).shape() != parse(envelope("1", "2")).shape()
    with pytest.raises(cm.InputError, match="is an envelope: it allows every rate from 5 to 8 here"):
        controller.rate({"C_L": 4, "qdel_L": 0})


@pytest.mark.parametrize("returned, message", [
    ("between(C_L)", "found `between(C_L)`, expected `return between(low, high)`, with two rates"),
    ("between(C_L, C_L, C_L)", "expected `return between(low, high)`, with two rates"),
    ("between(low=C_L, high=C_L)", "expected `return between(low, high)`, with two rates"),
    ("2 * between(C_L, C_L)", "expected `return between(low, high)`, with two rates"),
    ("between(C_L, qdel_L)", "returns `qdel_L` (time), expected a rate"),
    ("between(C_L, between(C_L, C_L))", "expected `return between(low, high)`, with two rates"),
])  # fmt: skip
def test_what_is_no_envelope_is_said(returned, message):
    with pytest.raises(cm.InputError) as raised:
        parse(f"def rate(C_L, qdel_L):\n    return {returned}", file="e.py")
    assert message in str(raised.value) and "e.py:2" in str(raised.value)


@pytest.mark.parametrize("command", [["verify"], ["verify", "--smt2", "q"], ["prove", "--proof", "cc_qdel"]])
def test_low_above_high_is_an_error_with_the_values(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.py").write_text(
        "def rate(C_L, C_U, qdel_L):\n"
        "    if qdel_L > 0:\n"
        "        return between(0, C_U)\n"
        "    return between(C_L / 2, C_U)\n"
    )
    network = NETWORK if command[0] == "verify" else []
    code, _, error = run(command[0], "e.py", *command[1:], *network)
    assert code == 2
    assert error.startswith("ccmatic: e.py:4: low is above high at C_L = ") and len(error.splitlines()) == 1


@pytest.mark.parametrize("dead", [
    "return between(C_L * R_m / (D - R_m), 2 * C_L)",
    "if C_L * R_m / (D - R_m) > C_L:\n            return between(C_L, C_L)\n        return C_L",
])  # fmt: skip
def test_what_the_jitter_leaves_out_may_divide_by_0(dead):
    """As in a controller that is no envelope."""
    source = f"def rate(C_L, D, R_m):\n    if D > R_m:\n        {dead}\n    return between(2 * C_L, 3 * C_L)"
    query = cm.Query(cm.Network("ccac", ">=6", 3))
    assert cm.verify(source, query).verdict in ("holds", "violated")


def test_replay_refuses_every_rate_where_low_is_above_high():
    """No controller is convicted by a rate that it does not choose."""
    trace = judgement("1", "2").trace
    forged = replace(trace, controller=envelope("2", "1"))
    report = cm.replay(forged)
    assert "sender.rate_is_the_controllers at t=1" in report.faults and report.outcome.value != "breaks"


def test_nothing_follows_from_low_above_high():
    """Were the rate that does not exist taken for one, anything would hold."""
    controller = parse("def rate(C_L):\n    return between(2 * C_L, C_L)")
    assert controller.encode({"C_L": 1}, linear(7), linear(0)) is True
    assert controller.allowed({"C_L": 1, "R_m": 1, "MSS": 0}) is None


def test_the_band_is_told_drawn_and_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.py").write_text(envelope("1", "2"))
    [found] = lines(run("verify", "e.py", *NETWORK, "--json")[1])
    assert any(text.startswith("Within the envelope, r is ") for text in found["explanation"]["sender"])
    assert run("replay", found["trace"], "--html", "e.html", "--plot", "e.png")[0] == 0
    assert ", from 0.25 to 0.5" in (tmp_path / "e.html").read_text()
    assert (tmp_path / "e.png").stat().st_size > 10_000


def test_what_needs_a_rate_refuses_an_envelope(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "e.py").write_text(envelope())
    code, _, error = run("export", "e.py", "--target", "bpf", "--out", "out")
    assert code == 2 and "is an envelope, which has no rate of its own" in error
    assert "`--flow guard:e.py:cubic`" in error
    assert not (tmp_path / "out").exists()
