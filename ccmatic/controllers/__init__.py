"""Controllers: checked programs of the language. ccmatic runs them, encodes them for solvers, and prints them."""

from ccmatic.controllers import signal
from ccmatic.controllers.controller import (
    Controller,
    Given,
    OtherKind,
    given,
    load,
    parse,
    require_order,
    sends_by_window,
)
from ccmatic.controllers.several import (
    ControllerGroup,
    ControllerText,
    begun_anywhere,
    each_of,
    first_decision,
    of_flows,
    texts_of,
)
from ccmatic.controllers.signal import shipped_beliefs
from ccmatic.controllers.stateful import Memory, Stateful

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
