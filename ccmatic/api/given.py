"""What all of the API's functions take as a controller."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from ccmatic import controllers
from ccmatic.controllers import Controller, Several, Stateful
from ccmatic.query import Decides, Query

#: What people give as a controller: see `controllers.given`.
Given = Controller | Stateful | Several | Callable[..., Fraction] | Path | str


def load_controller(controller: Given, query: Query | None = None) -> Decides:
    """The controller that is meant by a Python function, a file, a name, or source text.

    query: whose beliefs it may read; None: those of any model that ccmatic ships. Its `rate` runs it, its `pretty`
    shows it. Raises InputError, with file and line where they are known, for what is no controller.

        cm.load_controller("cc_qdel")
    """
    return query.controller(controller) if query else controllers.given(controller)
