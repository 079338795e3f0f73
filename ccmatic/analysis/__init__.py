"""Searches over many verdicts: what a network can force on a controller, and what a controller can guarantee."""
