"""Searches that combine many verdicts: what networks can force on controllers, and what controllers guarantee."""
