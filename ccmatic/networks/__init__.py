"""Neural networks read from ONNX files, as exact functions, and answers about single decisions."""

from ccmatic.networks.deciding import Decision, decide, extremes, violates
from ccmatic.networks.graph import (
    CLAIMS,
    PROOFS,
    Bent,
    Extreme,
    Graph,
    Joined,
    Layer,
    Recurrent,
    Row,
    Rows,
    Scaled,
    Statement,
    Total,
)
from ccmatic.networks.onnx_reader import annotate, load_model, read
from ccmatic.networks.piecewise import Form, Piecewise, combined, piecewise
from ccmatic.networks.relaxation import Range
from ccmatic.networks.vnnlib import Violation, read_property

__all__ = [
    "CLAIMS",
    "PROOFS",
    "Bent",
    "Decision",
    "Extreme",
    "Form",
    "Graph",
    "Joined",
    "Layer",
    "Piecewise",
    "Range",
    "Recurrent",
    "Row",
    "Rows",
    "Scaled",
    "Statement",
    "Total",
    "Violation",
    "annotate",
    "combined",
    "decide",
    "extremes",
    "load_model",
    "piecewise",
    "read",
    "read_property",
    "violates",
]
