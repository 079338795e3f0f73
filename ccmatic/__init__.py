"""Formal synthesis and verification of congestion control algorithms.

The package offers the names of `ccmatic.api` as well. The package imports these names on first use, because solvers
take most of a second to import.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:  # This module imports nothing else: the program cannot catch Ctrl-C before it has imported it.
    from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> "Any":
    from importlib import import_module
    from importlib.util import find_spec

    if not name.startswith("_") and find_spec(f"ccmatic.{name}") is None:
        api = import_module("ccmatic.api")
        if name in api.__all__ or name in api.EARLIER:
            return getattr(api, name)
    raise AttributeError(f"module 'ccmatic' has no attribute '{name}'")


def __dir__() -> list[str]:
    from importlib import import_module

    return [*globals(), *import_module("ccmatic.api").__all__]
