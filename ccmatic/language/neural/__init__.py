"""Neural networks read from ONNX files, as exact functions, and answers about single decisions."""

from ccmatic.language.neural.deciding import Decision, decide, extremes, violates
from ccmatic.language.neural.graph import (
    CLAIMS,
    PROOFS,
    Bent,
    Extreme,
    Form,
    Graph,
    Joined,
    Layer,
    Piecewise,
    Recurrent,
    Row,
    Rows,
    Scaled,
    Statement,
    Total,
    combined,
    piecewise,
)
from ccmatic.language.neural.onnx_reader import annotate, load_model, read
from ccmatic.language.neural.relaxation import Range
from ccmatic.language.neural.vnnlib import Violation, read_property

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
