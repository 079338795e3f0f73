"""A folder of answers, each in a sealed file.

A seal is a keyed digest of a question and its answer. The key is a file that only its user can read, and that is not in
the folder of answers. So an answer that comes from elsewhere has no valid seal, and the memory ignores it. A program
that runs as the same user can read the key, and could forge an answer. The memory trusts such programs.
"""

import hmac
import json
import os
import secrets
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from ccmatic import __version__
from ccmatic.base import KINDS, InputError, definitions, parse_json, read_text
from ccmatic.base.memory.closed import is_closed

T = TypeVar("T")

#: The environment variable with the folder of answers. An empty text turns the memory off.
VARIABLE = "CCMATIC_MEMORY"

#: The length of a key in bytes.
LENGTH = 32

_FORMAT = "ccmatic answer 1"

#: The kinds of files that decide what ccmatic does.
_SUFFIXES = (".py", ".toml", ".h", ".c")


@dataclass(frozen=True)
class Memory:
    """Answers of earlier questions. If a file cannot be read or written, the memory forgets instead of failing."""

    folder: Path
    key: Path

    @staticmethod
    def of_user() -> "Memory | None":
        """Return the memory of this user, as the environment sets it; None if it is off."""
        chosen = os.environ.get(VARIABLE)
        cache, state = _home("XDG_CACHE_HOME", ".cache"), _home("XDG_STATE_HOME", ".local/state")
        if chosen == "" or cache is None or state is None:
            return None
        return Memory(Path(chosen) if chosen else cache / "ccmatic" / "answers", state / "ccmatic" / "key")

    def recall(self, question: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a question; None if the memory has no answer with a valid seal."""
        try:
            stored = parse_json(read_text(self._file(question)))
            answer, seal = stored["answer"], stored["seal"]
            valid = hmac.compare_digest(seal, self._seal(question, answer))
            return answer if valid and isinstance(answer, dict) else None
        except (InputError, OSError, KeyError, TypeError):
            return None

    def remember(self, question: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Store the answer to a question. Other processes see either no file or the complete file."""
        file = self._file(question)
        with suppress(OSError):
            content = {"format": _FORMAT, "answer": answer, "seal": self._seal(question, answer)}
            file.parent.mkdir(parents=True, exist_ok=True)
            _write(file, json.dumps(content, indent=1).encode(), os.replace)

    def ask(
        self,
        question: Callable[[], dict[str, Any] | None],
        decide: Callable[[], T],
        stored: Callable[[T], dict[str, Any] | None],
        recalled: Callable[[dict[str, Any]], T | None],
    ) -> T:
        """Return the answer to a question, from the memory if possible.

        Args:
            question: Returns everything that influences the answer; None if this is not known.
            decide: Decides the question.
            stored: Returns an answer as data for JSON; None if the answer must not be remembered.
            recalled: Returns the answer which data describe; None if the data are of no use.
        """
        asked = question()
        if asked is not None and (data := self.recall(asked)) is not None:
            with suppress(InputError, LookupError, TypeError, ValueError):
                if (answer := recalled(data)) is not None:
                    return answer
        answer = decide()
        data = stored(answer) if asked is not None else None
        # If a definition or ccmatic's code changed in the meantime, it is unknown which version decided.
        if data is not None and asked is not None and question() == asked:
            self.remember(asked, data)
        return answer

    def _file(self, question: Mapping[str, Any]) -> Path:
        digest = sha256(_text(question)).hexdigest()
        return self.folder / digest[:2] / f"{digest}.json"

    def _seal(self, question: Mapping[str, Any], answer: Mapping[str, Any]) -> str:
        return hmac.digest(self._secret(), _text([_FORMAT, question, answer]), "sha256").hex()

    def _secret(self) -> bytes:
        """Return the key, which is made at first use. Raise OSError if others may know it."""
        if not self.key.exists():
            self.key.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with suppress(FileExistsError):  # another process was faster
                _write(self.key, secrets.token_bytes(LENGTH), os.link)
        with open(os.open(self.key, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            about = os.fstat(file.fileno())
            private = stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and not about.st_mode & 0o077
            key = file.read(LENGTH + 1) if private else b""
        if len(key) != LENGTH:
            raise PermissionError(f"the key {self.key} is no private file of {LENGTH} bytes")
        return key


def _home(variable: str, default: str) -> Path | None:
    chosen = Path(os.environ.get(variable, ""))
    if chosen.is_absolute():
        return chosen
    with suppress(RuntimeError):
        return Path.home() / default
    return None


def _write(file: Path, content: bytes, place: Any) -> None:
    """Write a private file beside `file`, and let `place` put it there in one step."""
    number, neighbour = tempfile.mkstemp(dir=file.parent)
    try:
        with open(number, "wb") as stream:
            stream.write(content)
        place(neighbour, file)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(neighbour)


def _text(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True).encode()


def question(
    asked: str,
    record: Mapping[str, Any],
    controllers: Sequence[Any],
    solver: Mapping[str, Any] | None,
    **others: Any,
) -> dict[str, Any] | None:
    """Return everything that influences an answer, as data for JSON.

    The result is None if the answer may depend on something else, such as a file that a definition reads.

    Args:
        asked: The name of the question, such as `verify`.
        record: The record of the query.
        controllers: The controllers, each with a name and a source.
        solver: Everything that influences the solver; None if this is not known.
        **others: Further parts of the question, as data for JSON.
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
    digest = sha256()
    for name, path, *_ in files:
        with open(path, "rb") as file:
            content = file.read()
        digest.update(f"{name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()
