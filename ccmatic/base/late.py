"""Late imports: a package imports a module at the first use of one of the module's names."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def late(package: str, names: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the function `__getattr__` of a package whose modules take long to import.

    Args:
        package: The name of the package, which is its `__name__`.
        names: The names that each module offers, by the full name of the module.
    """
    places = {name: module for module, offered in names.items() for name in offered}

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        value = getattr(import_module(places[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get
