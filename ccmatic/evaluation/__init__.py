"""Exported controllers on the grid of links of the paper's evaluation: runs, the proved bounds beside them, figures."""
