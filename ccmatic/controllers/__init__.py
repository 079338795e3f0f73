"""Controllers: programs of the language, each with all its worlds: to run, to encode for solvers, to print."""

from ccmatic.controllers import signal
from ccmatic.controllers.beliefs import shipped_beliefs
from ccmatic.controllers.controller import Controller, OtherKind, load, parse
from ccmatic.controllers.given import given, sends_by_window
from ccmatic.controllers.memory import Memory
from ccmatic.controllers.order import require_order
from ccmatic.controllers.several import Several, begun_anywhere, each_of
from ccmatic.controllers.stateful import Stateful

__all__ = [
    "Controller",
    "Memory",
    "OtherKind",
    "Several",
    "Stateful",
    "begun_anywhere",
    "each_of",
    "given",
    "load",
    "parse",
    "require_order",
    "sends_by_window",
    "shipped_beliefs",
    "signal",
]
