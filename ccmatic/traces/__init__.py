"""Traces: one execution, step by step; drawn, and written for other tools."""

from ccmatic.traces.drawing import (
    BELIEF,
    JITTER,
    LARGE,
    LOSS,
    NETWORK,
    PROBE,
    QUIET,
    SENDER,
    SMALL,
    TRUTH,
    draw_trace,
    figure,
    require,
)
from ccmatic.traces.trace import Trace

__all__ = [
    "BELIEF",
    "JITTER",
    "LARGE",
    "LOSS",
    "NETWORK",
    "PROBE",
    "QUIET",
    "SENDER",
    "SMALL",
    "TRUTH",
    "Trace",
    "draw_trace",
    "figure",
    "require",
]
