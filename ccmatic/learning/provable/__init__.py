"""Policies of ReLU units over beliefs, which are trained until their guarantee is proved."""

from ccmatic.learning import needs  # noqa: F401
from ccmatic.learning.provable.loop import Outcome, Round, train, train_proved
from ccmatic.learning.provable.query import ProvableTraining, load

__all__ = ["Outcome", "ProvableTraining", "Round", "load", "train", "train_proved"]
