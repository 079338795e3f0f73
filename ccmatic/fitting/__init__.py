"""Fit packet logs: find the executions of a model that explain a packet log (docs/reference/fit.md)."""

from ccmatic.fitting.fit import MODELS, Fit, Fitted, fit
from ccmatic.fitting.least import RESOLUTION, least, unlimited
from ccmatic.fitting.log import NEVER, SECOND, PacketLog, packet_log
from ccmatic.fitting.picture import draw
from ccmatic.fitting.pipeline import fit_file
from ccmatic.fitting.readers import read_log
from ccmatic.fitting.report import lines, milliseconds, text

__all__ = [
    "MODELS",
    "NEVER",
    "RESOLUTION",
    "SECOND",
    "Fit",
    "Fitted",
    "PacketLog",
    "draw",
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
