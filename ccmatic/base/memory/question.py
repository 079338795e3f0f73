"""Everything that influences an answer, as data: the question, the definitions, the solver, and ccmatic's own code."""

import os
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from typing import Any

from ccmatic import __version__
from ccmatic.base import KINDS, definitions
from ccmatic.base.memory.closed import is_closed

#: The kinds of files that decide what ccmatic does.
_SUFFIXES = (".py", ".toml", ".h", ".c")


def question(
    asked: str,
    record: Mapping[str, Any],
    controllers: Sequence[Any],
    solver: Mapping[str, Any] | None,
    **others: Any,
) -> dict[str, Any] | None:
    """Return everything that influences an answer.

    Args:
        asked: The name of the question, such as `verify`.
        record: The record of the query.
        controllers: The controllers, each with a name and a source.
        solver: Everything that influences the solver; None if this is not known.
        **others: Further parts of the question, as data for JSON.

    Returns:
        The question as data for JSON; None if the answer may depend on something else, such as a file that a definition
        reads.
    """
    own = own_definitions(record)
    if solver is None or not all(map(is_closed, own.values())):
        return None
    return {
        "asked": asked,
        "query": dict(record),
        "controllers": [[each.name, each.source] for each in controllers],
        "solver": dict(solver),
        "definitions": own,
        "ccmatic": {"version": __version__, "code": code_digest(), "python": [sys.version, *sys.flags]},
        **others,
    }


def own_definitions(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts of the user's definitions that a query's record names, by name."""
    thresholds = record["property"]
    named = {"models": record["model"], "properties": thresholds["name"], "proofs": thresholds.get("proof")}
    texts: dict[str, str] = definitions.own_texts(named)
    return texts


def code_digest() -> str:
    """Return a digest of all files that decide what ccmatic does, including shipped models, beliefs and properties."""
    files = [(name, path, os.stat(path)) for name, path in _files()]
    return _digest(tuple((name, path, about.st_mtime_ns, about.st_size) for name, path, about in files))


def _files() -> list[tuple[str, str]]:
    """Return the files of ccmatic's code, each with a name that does not depend on where ccmatic is installed."""
    folders = ["ccmatic", *(f"ccmatic.{folder}" for folders, _ in KINDS.values() for folder in folders)]
    files: dict[str, str] = {}
    for folder in folders:
        [root, *_] = import_module(folder).__path__
        for place, inside, names in os.walk(root):
            inside[:] = [name for name in inside if name != "__pycache__"]
            for name in names:
                if name.endswith(_SUFFIXES):
                    path = os.path.join(place, name)
                    files.setdefault(path, f"{folder} {path[len(root) :]}")
    return sorted((name, path) for path, name in files.items())


@lru_cache(maxsize=1)
def _digest(files: tuple[tuple[str, str, int, int], ...]) -> str:
    """Return a digest of the texts of files; each file has a name, a path, a time of change, and a size."""
    digest = sha256()
    for name, path, *_ in files:
        with open(path, "rb") as file:
            content = file.read()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()
