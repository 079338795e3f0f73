"""Fit packet logs: find the executions of a model that explain a packet log (docs/reference/fit.md)."""

from ccmatic.fitting.explanations import explain_log, explanation_lines, explanation_text
from ccmatic.fitting.fit import fit_file
from ccmatic.fitting.least import least
from ccmatic.fitting.log import packet_log
from ccmatic.fitting.report import draw, lines, text

__all__ = [
    "draw",
    "explain_log",
    "explanation_lines",
    "explanation_text",
    "fit_file",
    "least",
    "lines",
    "packet_log",
    "text",
]
