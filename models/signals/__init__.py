"""Formulas of learners: the observations, rewards and actions of learned senders (docs/signals.md)."""

#: Three groups of formulas: the default formulas of environments; two actions for senders that are not learned (a rate,
#: and CUBIC's action); and the reward of Orca's training, which CCLab's naive adversary lowers.
DEFAULT, RATE, CUBIC, ORCA = "custard", "rate", "cubic", "orca"
