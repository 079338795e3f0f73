"""Runs controllers that are written in Python alone over a path.

A file defines a class `Controller`. Its constructor takes the name, a seed and the bytes of the largest packet. Its
methods `acked(event)`, `lost(event)` and `window()` have the meaning of the functions in controller.h. The methods
`sent(event)`, `marked(event)`, `limited(event)` and `departure(now, bytes)` are optional. An event has the fields of
`struct controller_event`.
"""

import ctypes
import os
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ccmatic.base import definitions
from ccmatic.judging.builds import controller_library

#: The name of the class.
CLASS = "Controller"

#: The program that runs such a file. Its arguments are the library of `controller_library`, and the file.
_START = "import sys; from ccmatic.judging.scripts import main; sys.exit(main(*sys.argv[1:]))"

_I64 = ctypes.c_int64


class Event(ctypes.Structure):
    """The structure `controller_event` of controller.h."""

    _fields_ = (
        *((name, _I64) for name in ("now", "sent", "bytes", "rtt", "least_rtt", "smooth_rtt", "in_flight")),
        ("app_limited", ctypes.c_int32),
        ("persistent", ctypes.c_int32),
    )


_NEW = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, _I64)
_TOLD = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(Event))
_WINDOW = ctypes.CFUNCTYPE(_I64, ctypes.c_void_p)
_DEPARTURE = ctypes.CFUNCTYPE(_I64, ctypes.c_void_p, _I64, _I64)
_FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

#: The methods that take an event, in the order of `struct recovery_library`.
_EVENTS = ("sent", "acked", "lost", "marked", "limited")


class _Library(ctypes.Structure):
    """The structure `recovery_library` of recovery.h."""

    _fields_ = (
        ("create", _NEW),
        *((name, _TOLD) for name in _EVENTS),
        ("window", _WINDOW),
        ("departure", _DEPARTURE),
        ("destroy", _FREE),
    )


def command(file: Path) -> tuple[str, ...]:
    """Return the command that runs the controller of a Python file."""
    return sys.executable, "-c", _START, str(controller_library()), str(file.resolve())


def main(library: str, file: str) -> int:
    """Run the scenarios in the folders that the standard input names."""
    kind = _guarded(lambda: getattr(definitions.run_file(Path(file).stem, file), CLASS), file)()
    functions = _Functions(kind, file)
    run = ctypes.CDLL(library).run_scenario
    for line in sys.stdin:
        if run(line.rstrip("\n").encode(), ctypes.byref(functions.library)):
            return 2
    return 0


class _Functions:
    """The functions of a class as a library, which refers to Python objects by number."""

    def __init__(self, kind: Any, file: str) -> None:
        self._objects: dict[int, Any] = {}
        guarded = partial(_guarded, file=file)

        def create(name: bytes, seed: int, packet: int) -> int:
            self._objects[len(self._objects) + 1] = kind(name.decode(), seed, packet)
            return len(self._objects)

        def method(name: str) -> Callable[..., Any]:
            return lambda number, event: getattr(self._objects[number], name)(event.contents) and None

        self.library = _Library(
            _NEW(guarded(create)),
            *(_TOLD(guarded(method(name))) if hasattr(kind, name) else _TOLD() for name in _EVENTS),
            _WINDOW(guarded(lambda number: _whole("window", self._objects[number].window()))),
            _DEPARTURE(
                guarded(lambda number, now, size: _whole("departure", self._objects[number].departure(now, size)))
            )
            if hasattr(kind, "departure")
            else _DEPARTURE(),
            _FREE(lambda number: None),
        )


def _guarded(function: Callable[..., Any], file: str) -> Callable[..., Any]:
    """Return a function that ends the process at an exception, because C code cannot pass it on."""

    def guarded(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BaseException as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
            place = f"{Path(file).name}:{frames[-1].lineno}" if frames else Path(file).name
            print(f"panicked at {place}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            os._exit(1)

    return guarded


def _whole(method: str, value: Any) -> int:
    """Return the result of a method as a number of 64 bits. C code would cut a larger one off in silence."""
    number: int = value.__index__()
    if not 0 <= number < 2**63:
        raise ValueError(f"{method}() returned {number}; expected 0 to 2^63 - 1")
    return number
