"""Traces: one execution step by step, its drawings, and its text for other tools."""

from ccmatic.traces.canvas import (
    BELIEF,
    JITTER,
    LARGE,
    LOSS,
    NETWORK,
    PROBE,
    QUIET,
    ROLES,
    SENDER,
    SMALL,
    TRUTH,
    apart,
    figure,
    require,
)
from ccmatic.traces.charts import DASHES, Chart, Form, Kind, Line, scales
from ccmatic.traces.drawing import draw_trace
from ccmatic.traces.lanes import Lanes
from ccmatic.traces.trace import Trace

__all__ = [
    "BELIEF",
    "DASHES",
    "JITTER",
    "LARGE",
    "LOSS",
    "NETWORK",
    "PROBE",
    "QUIET",
    "ROLES",
    "SENDER",
    "SMALL",
    "TRUTH",
    "Chart",
    "Form",
    "Kind",
    "Lanes",
    "Line",
    "Trace",
    "apart",
    "draw_trace",
    "figure",
    "require",
    "scales",
]
