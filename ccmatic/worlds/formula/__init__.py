"""Trees as formulas for solvers: terms, the update at one step, and executions that repeat for ever."""

from ccmatic.worlds.formula.encoder import Encoder, keeps_sign
from ccmatic.worlds.formula.forever import forever
from ccmatic.worlds.formula.step import OpenStep, Step

__all__ = ["Encoder", "OpenStep", "Step", "forever", "keeps_sign"]
