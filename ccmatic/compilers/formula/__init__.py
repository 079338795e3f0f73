"""Trees as formulas for solvers: terms, a step of an update, and what repeats for ever."""

from ccmatic.compilers.formula.encoder import Encoder, keeps_sign
from ccmatic.compilers.formula.forever import forever
from ccmatic.compilers.formula.step import Step, Told

__all__ = ["Encoder", "Step", "Told", "forever", "keeps_sign"]
