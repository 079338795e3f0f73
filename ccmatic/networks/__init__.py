"""Neural networks read from ONNX files, as exact functions, and answers about single decisions."""

from ccmatic.networks.deciding import Decision, decide, violates
from ccmatic.networks.graph import Bent, Extreme, Graph, Joined, Layer, Row, Scaled, Statement, Total
from ccmatic.networks.onnx_reader import read
from ccmatic.networks.piecewise import Piecewise, piecewise
from ccmatic.networks.vnnlib import Violation, read_property

__all__ = [
    "Bent",
    "Decision",
    "Extreme",
    "Graph",
    "Joined",
    "Layer",
    "Piecewise",
    "Row",
    "Scaled",
    "Statement",
    "Total",
    "Violation",
    "decide",
    "piecewise",
    "read",
    "read_property",
    "violates",
]
