"""Fit packet logs: find the executions of a model that explain a packet log (docs/reference/fit.md)."""

from ccmatic.fitting.explained_text import explanation_lines, explanation_text
from ccmatic.fitting.explanations import NETWORKS, Explanation, Explanations, explain
from ccmatic.fitting.fit import MODELS, Fit, FitResult, fit
from ccmatic.fitting.least import RESOLUTION, least, unlimited
from ccmatic.fitting.log import NEVER, SECOND, UNKNOWN, PacketLog, packet_log
from ccmatic.fitting.picture import draw
from ccmatic.fitting.pipeline import explain_file, fit_file
from ccmatic.fitting.readers import read_log
from ccmatic.fitting.report import lines, milliseconds, text

__all__ = [
    "MODELS",
    "NETWORKS",
    "NEVER",
    "RESOLUTION",
    "SECOND",
    "UNKNOWN",
    "Explanation",
    "Explanations",
    "Fit",
    "FitResult",
    "PacketLog",
    "draw",
    "explain",
    "explain_file",
    "explanation_lines",
    "explanation_text",
    "fit",
    "fit_file",
    "least",
    "lines",
    "milliseconds",
    "packet_log",
    "read_log",
    "text",
    "unlimited",
]
