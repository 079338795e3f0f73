"""Rewards: one number for each monitor interval."""
