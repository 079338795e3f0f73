"""Traces: one execution, step by step; drawn, and written for other tools."""

from ccmatic.traces.canvas import (
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
    figure,
    require,
)
from ccmatic.traces.charts import Chart, Line
from ccmatic.traces.drawing import draw_trace
from ccmatic.traces.lanes import Lanes
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
    "Chart",
    "Lanes",
    "Line",
    "Trace",
    "draw_trace",
    "figure",
    "require",
]
