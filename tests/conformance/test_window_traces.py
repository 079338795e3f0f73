"""Traces of senders with windows are drawn and exported: their tokens are what the model makes of those wasted."""

from dataclasses import replace
from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.networks.trace_export import Scale, Schedule, export
from ccmatic.networks.traces import draw_trace

HORIZON, SCALE = 5, Scale(Fraction(1500000), Fraction(2, 5), 1500)


def found(buffer, what):
    """An execution of Vegas, from an empty start, in which something is so."""
    given = "A[0] == S[0]; L[0] == 0; alpha < 1/4"
    query = cm.Query(cm.Network("ccac2021", buffer, HORIZON), "avoids", what=what, given=given)
    trace = cm.verify("vegas", query).trace
    assert "K" not in trace.columns
    return trace


@pytest.fixture(scope="module")
def wasteful():
    return found("infinite", "And(W[3] > W[0], S[3] > S[1])")


def test_a_window_is_drawn_and_tokens_are(wasteful, tmp_path):
    draw_trace(wasteful, tmp_path / "trace.svg")
    svg = (tmp_path / "trace.svg").read_text()
    for text in ("window, $c$", "tokens, $K$", "sent, $r$"):
        assert text in svg
    assert "states no beliefs" not in svg


def test_a_schedule_admits_what_was_not_wasted(wasteful, tmp_path):
    content, _ = export(wasteful, "schedule", SCALE)
    (tmp_path / "schedule.csv").write_bytes(content)
    admitted = [point[1] for point in Schedule.load(tmp_path / "schedule.csv").points]
    assert admitted == [int(600000 * (t - wasteful.columns["W"][t])) for t in range(HORIZON)]


def test_without_the_tokens_wasted_it_is_refused(wasteful, tmp_path):
    less = replace(wasteful, columns={name: column for name, column in wasteful.columns.items() if name != "W"})
    with pytest.raises(InputError, match="the trace has no column W"):
        export(less, "schedule", SCALE)
    with pytest.raises(InputError, match="cannot draw the trace: it has no W"):
        draw_trace(less, tmp_path / "trace.svg")
