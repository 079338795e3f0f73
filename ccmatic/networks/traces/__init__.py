"""Traces: one execution step by step, its drawings, and its text for other tools."""

from typing import TYPE_CHECKING

from ccmatic.base import late
from ccmatic.networks.traces.trace import Trace, read_trace

if TYPE_CHECKING:
    from ccmatic.networks.traces.canvas import (
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
    from ccmatic.networks.traces.charts import DASHES, Chart, Form, Kind, Line, scales
    from ccmatic.networks.traces.drawing import draw_trace
    from ccmatic.networks.traces.lanes import Lanes

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
    "read_trace",
    "require",
    "scales",
]

#: Commands that draw nothing do not import the modules that draw.
__getattr__ = late(__name__)
