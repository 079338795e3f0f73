"""Late imports: a package imports a module at the first use of one of the module's names."""

import ast
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ccmatic.base.files import syntax_tree


def late(package: str) -> Callable[[str], Any]:
    """Return the function `__getattr__` of a package, which imports names at their first use.

    The names are those that the package imports under `if TYPE_CHECKING`. A name must not be that of a module of the
    package.
    """
    places = cache(lambda: _places(package))

    def get(name: str) -> Any:
        if name.startswith("__") or name not in places():
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        module, original = places()[name]
        value = getattr(import_module(module), original)
        setattr(sys.modules[package], name, value)
        return value

    return get


def _places(package: str) -> dict[str, tuple[str, str]]:
    """Return the module of each late name, and the name in this module."""
    tree = syntax_tree(Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name: (node.module or "", alias.name) for node in imports for alias in node.names}
