"""Measures that observations, rewards and actions share."""
