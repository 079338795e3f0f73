"""Queries, one file per row of the paper's Table 2."""
