"""Formulas of learners: their observations, rewards, and actions (docs/signals.md)."""

#: The default of environments; the action that is a rate, and CUBIC's action, both for senders that are not learned;
#: and the reward of Orca's training, which CCLab's naive adversary lowers.
DEFAULT, RATE, CUBIC, ORCA = "custard", "rate", "cubic", "orca"
