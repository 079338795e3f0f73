"""Evaluation of exported controllers on the paper's grid of links: runs, proved bounds, and figures."""

from ccmatic.evaluation.grid import Grid, evaluate
from ccmatic.evaluation.runs import line

__all__ = ["Grid", "evaluate", "line"]
