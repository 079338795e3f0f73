"""Controllers as people give them: a Python function, a file, a name, or source text."""

import inspect
import re
from pathlib import Path
from textwrap import dedent

from ccmatic.base import InputError, shown
from ccmatic.controllers.controller import Controller, load, parse
from ccmatic.controllers.several import Several
from ccmatic.controllers.stateful import Stateful
from ccmatic.language import find_program, is_stateful


def given(controller, beliefs=None, observations=None) -> Controller | Stateful | Several:
    """The Controller that is meant; of a list, those of the flows of a path, in order.

    controller: a Controller, a Python function from beliefs to a rate, the path of a file (a Path, or text that looks
    like one), the name of one that ccmatic ships, or source text, which has several lines. beliefs, observations: as of
    `parse`. Raises InputError, also for a function whose source is not to be had, as it was typed at a prompt.
    """
    if isinstance(controller, Several):
        controller = controller.each
    if isinstance(controller, list | tuple) and controller:
        return _several([given(each, beliefs, observations) for each in controller])
    if isinstance(controller, Controller | Stateful):
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
    """Whether a controller, as of `given`, sends by a window and may remember. Raises InputError where there is no such
    file."""
    if isinstance(controller, Stateful):
        return True
    if not isinstance(controller, str | Path):
        return False
    if isinstance(controller, str) and "\n" in controller:
        return is_stateful(controller)
    return is_stateful(find_program(controller)[1])


def _several(controllers):
    """Those of the flows of a path; of one alone, that."""
    for each in controllers:
        if isinstance(each, Several):
            raise InputError(f"{each.name} is of several flows itself; expected a controller of one")
    return Several(tuple(controllers)) if len(controllers) > 1 else controllers[0]


def _source(function):
    """A function's name, and its source, in which it is called `rate`."""
    name = function.__name__
    try:
        source = dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise InputError(
            f"the source of the function {name} is not to be had; expected one that is defined in a file or a "
            "notebook's cell, else give its source as text"
        ) from None
    if name == "<lambda>":
        raise InputError("a lambda is no controller; expected a function that is defined by `def rate(...)`")
    return name, re.sub(rf"^def\s+{re.escape(name)}\b", "def rate", source, count=1, flags=re.MULTILINE)
