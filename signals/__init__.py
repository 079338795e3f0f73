"""Formulas of learners: what they observe, what rewards them, what their actions mean (docs/signals.md)."""
