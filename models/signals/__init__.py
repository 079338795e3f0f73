"""Formulas of learners: what they observe, what rewards them, what their actions mean (docs/signals.md)."""

#: What environments have that name none; the action that is a rate, and that which is CUBIC's, of senders that are not
#: learned; and the reward of Orca's training, which CCLab's naive adversary lowers.
DEFAULT, RATE, CUBIC, ORCA = "custard", "rate", "cubic", "orca"
