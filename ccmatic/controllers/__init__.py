"""Controllers: checked programs of the language. ccmatic runs them, encodes them for solvers, and prints them."""

from ccmatic.controllers import signal
from ccmatic.controllers.beliefs import shipped_beliefs
from ccmatic.controllers.controller import Controller, OtherKind, load, parse
from ccmatic.controllers.given import Given, given, sends_by_window
from ccmatic.controllers.memory import Memory
from ccmatic.controllers.order import require_order
from ccmatic.controllers.several import (
    ControllerGroup,
    ControllerText,
    begun_anywhere,
    each_of,
    first_decision,
    of_flows,
    texts_of,
)
from ccmatic.controllers.stateful import Stateful

__all__ = [
    "Controller",
    "ControllerGroup",
    "ControllerText",
    "Given",
    "Memory",
    "OtherKind",
    "Stateful",
    "begun_anywhere",
    "each_of",
    "first_decision",
    "given",
    "load",
    "of_flows",
    "parse",
    "require_order",
    "sends_by_window",
    "shipped_beliefs",
    "signal",
    "texts_of",
]
