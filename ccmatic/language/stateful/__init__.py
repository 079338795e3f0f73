"""Controllers that remember: read, run, encode."""

from ccmatic.language.stateful.controller import Stateful, parse_stateful
from ccmatic.language.stateful.program import Program
from ccmatic.language.stateful.reader import is_stateful
from ccmatic.language.stateful.step import Step

__all__ = ["Program", "Stateful", "Step", "is_stateful", "parse_stateful"]
