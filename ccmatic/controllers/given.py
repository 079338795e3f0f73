"""Conversion of arguments to controllers. A caller may pass a Python function, a file, a name, or source text."""

import inspect
import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from textwrap import dedent

from ccmatic.base import InputError, shown
from ccmatic.controllers.controller import Controller, load, parse
from ccmatic.controllers.several import ControllerGroup, ControllerText
from ccmatic.controllers.stateful import Stateful
from ccmatic.language import find_program, is_stateful

#: The forms in which callers may pass a controller; see `given`.
Given = Controller | Stateful | ControllerGroup | Callable[..., Fraction] | Path | str


def given(controller, beliefs=None, observations=None) -> Controller | Stateful | ControllerGroup:
    """Return the controller that a value describes.

    Args:
        controller: A Controller, a ControllerText, a Python function from beliefs to a rate, the path of a file (a
            Path, or text that looks like a path), the name of a shipped controller, or source text of several lines. A
            list of these values gives the controllers of a path's flows, in order.
        beliefs: As in `parse`.
        observations: As in `parse`.

    Raises:
        InputError: If the value is no controller, or a function without available source, such as a function typed at a
            prompt.
    """
    if isinstance(controller, ControllerGroup):
        controller = controller.each
    if isinstance(controller, list | tuple) and controller:
        return _several([given(each, beliefs, observations) for each in controller])
    if isinstance(controller, Controller | Stateful | ControllerText):
        return parse(controller.source, controller.name, controller.file, beliefs, observations)
    if isinstance(controller, str) and "\n" in controller:
        return parse(controller, beliefs=beliefs, observations=observations)
    if isinstance(controller, str | Path):
        return load(controller, beliefs, observations)
    if inspect.isfunction(controller):
        name, source = _source(controller)
        return parse(source, name, beliefs=beliefs, observations=observations)
    expected = "a function, the name or path of a file, or source text"
    raise InputError(f"{shown(controller)} is no controller; expected {expected}")


def sends_by_window(controller) -> bool:
    """Return whether a controller sends by a window, and so may have state. `given` accepts the forms of the argument.

    Raises:
        InputError: If the argument names a file that does not exist.
    """
    if isinstance(controller, Stateful):
        return True
    if not isinstance(controller, str | Path):
        return False
    if isinstance(controller, str) and "\n" in controller:
        return is_stateful(controller)
    return is_stateful(find_program(controller)[1])


def _several(controllers):
    """Return the controllers of a path's flows as one ControllerGroup. A single controller is returned unchanged."""
    for each in controllers:
        if isinstance(each, ControllerGroup):
            raise InputError(f"{each.name} is of several flows itself; expected a controller of one")
    return ControllerGroup(tuple(controllers)) if len(controllers) > 1 else controllers[0]


def _source(function):
    """Return a function's name, and the function's source with the name replaced by `rate`."""
    name = function.__name__
    try:
        source = dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise InputError(
            f"the source of the function {name} is not available; expected one that is defined in a file or a "
            "notebook's cell, or its source as text"
        ) from None
    if name == "<lambda>":
        raise InputError("a lambda is no controller; expected a function that is defined by `def rate(...)`")
    return name, re.sub(rf"^def\s+{re.escape(name)}\b", "def rate", source, count=1, flags=re.MULTILINE)
