"""Exported controllers on the grid of links of the paper's evaluation: runs, the proved bounds beside them, figures."""

from ccmatic.evaluation.grid import Grid
from ccmatic.evaluation.runs import line

__all__ = ["Grid", "line"]
