"""The files of synthesised controllers. Each controller has a readable Python file of its own.

Each file records its origin. Each query has its own folder of solutions. A complete synthesis replaces this folder as a
whole.
"""

import hashlib
import json
import re
import shutil
from contextlib import suppress
from pathlib import Path
from textwrap import wrap

from ccmatic import __version__, controllers, records
from ccmatic.base import (
    InputError,
    Unreadable,
    definitions,
    docstring,
    opened,
    parse_json,
    read_text,
    writable_folder,
    write_text,
)
from ccmatic.records import QueryRecord, SolutionsFile

_DOCSTRING = re.compile(r'(\n    |^)""".*?"""', re.DOTALL)


#: The file in each folder of solutions that records the query, and the digest of each other file.
CONTENTS = "solutions.json"


class Folder:
    """The folder with the solutions of one synthesis.

    During the synthesis, each solution is written at once to another folder, NAME.partial. The method `complete`
    replaces the folder NAME by NAME.partial. The first solution removes the NAME.partial of an earlier synthesis. So a
    synthesis that is interrupted before its first solution changes no folder.
    """

    def __init__(self, path, query):
        self.path, self._query = Path(path), query
        self._partial, self._replaced = self.partial(path), self.path.with_name(self.path.name + ".replaced")
        for folder in (self.path, self._partial, self._replaced):
            _require_own(folder)
        self._digests = None
        writable_folder(self._partial)
        with suppress(OSError):
            self._partial.rmdir()

    @staticmethod
    def partial(path):
        """Return the folder that receives the files until the synthesis is complete."""
        return Path(path).with_name(Path(path).name + ".partial")

    def add(self, progress):
        """Write the newest solution, and return the path that the file will have after `complete`."""
        return self.keep(f"{progress.controller.name}.py", solution_text(self._query, progress))

    def keep(self, name, text):
        self._begin()
        self._digests[name] = None
        self._say(complete=False)
        write_text(self._partial / name, text)
        self._digests[name] = _digest(self._partial / name)
        self._say(complete=False)
        return self.path / name

    def complete(self):
        """Replace the output folder by the finished `.partial` folder."""
        self._begin()
        self._say(complete=True)
        self._remove(self._replaced)
        # Two renames replace the folder. A crash between them leaves both folders complete, but under other names.
        try:
            if self.path.exists():
                self.path.rename(self._replaced)
            self._partial.rename(self.path)
        except OSError as error:
            raise Unreadable(f"cannot write: {error.strerror}", str(self.path)) from None
        self._remove(self._replaced)

    def _begin(self):
        """Before the first file, remove the files of an earlier synthesis from the `.partial` folder."""
        if self._digests is None:
            self._remove(self._partial)
            writable_folder(self._partial)
            self._digests = {}

    def _say(self, complete):
        contents = SolutionsFile(
            made_by=f"ccmatic {__version__}",
            query=records.convert(self._query.record(), QueryRecord),
            complete=complete,
            files=self._digests,
        )
        write_text(self._partial / CONTENTS, json.dumps(records.data(contents), indent=1) + "\n")

    @staticmethod
    def _remove(folder):
        """Remove a folder, the list of its files last."""
        if folder.exists():
            for file in [each for each in folder.iterdir() if each.name != CONTENTS]:
                file.unlink()
            shutil.rmtree(folder)


def written(steps, folder):
    """Yield each Progress of a synthesis, after its solution is written to a Folder."""
    for now in steps:
        if now.controller:
            folder.add(now)
        yield now
    folder.complete()


def _require_own(folder):
    """Raise InputError if a folder contains a file that no synthesis wrote, whether finished, interrupted or killed."""
    if folder.exists() and not folder.is_dir():
        raise InputError("solutions are written there; expected a folder, or none: remove it or set --out", str(folder))
    files = list(folder.iterdir()) if folder.exists() else []
    try:
        contents = parse_json(read_text(folder / CONTENTS))
        own = {CONTENTS: None, **records.convert(contents, SolutionsFile).files}
    except InputError:
        own = {}
    # A killed synthesis leaves the temporary file of `write_text`.
    own |= dict.fromkeys(f"{name}.partial" for name in (CONTENTS, *own))
    for file in files:
        if file.name not in own or own[file.name] not in (None, _digest(file)):
            raise InputError(
                "no synthesis wrote this, or it was changed since, and the folder's content would be replaced; move it "
                "away or set --out",
                str(file),
            )


def _digest(file):
    with suppress(InputError), opened(file) as stored:
        return hashlib.file_digest(stored, "sha256").hexdigest()


def solution_text(query, progress):
    controller = progress.controller
    like = kin(controller)
    lines = [f"{controller.name}: found by ccmatic {__version__} for the query {query.name}.", ""]
    if like:
        lines += [f"The same class as the paper's {', '.join(like)}.", ""]
    lines += wrap(f"Query: {query}.", 100, break_on_hyphens=False)
    written = _DOCSTRING.sub("", controller.source, count=1).lstrip("\n")
    blank = "\n\n\n" if written.startswith("def") else "\n\n"
    return docstring("\n".join(lines) + "\n") + blank + written


def kin(controller):
    """Return the names of the paper's controllers that differ from this one only in the coefficients of constants."""
    names = []
    if not isinstance(controller, controllers.Controller):
        return names
    for name in definitions.chosen("synthesized", "PUBLISHED"):
        published = controllers.load(name)
        if published.shape() is not None and published.shape() == controller.shape():
            names.append(name)
    return names
