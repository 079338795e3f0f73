"""Observations: the numbers of one monitor interval that a learner observes."""
