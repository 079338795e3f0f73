"""Rewards: one number per monitor interval."""
