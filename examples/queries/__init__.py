"""Queries, one file a row of the paper's Table 2."""
