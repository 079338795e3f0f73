"""Observations: numbers about one monitor interval that a learner reads."""
