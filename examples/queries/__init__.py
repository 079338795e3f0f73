"""Example queries. Each file is one row of the paper's Table 2."""
