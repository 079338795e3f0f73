"""The files of the workbench: the initial content of a page, and the controllers that a user saves."""

import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from ccmatic import __version__
from ccmatic.base import InputError, definitions, list_names, located, read_text, shown, write_text
from ccmatic.language import find_program
from ccmatic.records import WorkbenchFile, WorkbenchQuestion, data, read_record

#: The pattern of valid names for saved files: directly in the folder, and not hidden.
_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,80}\.py", re.ASCII)


def begin(file: str | None) -> WorkbenchFile:
    """Return the initial content of a page: an example, or the content of a file.

    The file is the path or name of a controller, or the path of a file that the workbench shared.
    """
    if file is not None and Path(file).suffix == ".json":
        shared: WorkbenchFile = read_record(read_text(file), WorkbenchFile, file)
        return shared
    if file is None:
        example: WorkbenchFile = read_record(text("begin.json"), WorkbenchFile)
        return example
    path, source = find_program(file)
    if path.suffix != ".py":
        raise InputError("the workbench edits text; expected a controller NAME.py, or a file that it shared", file)
    return _about_any(path.stem, source)


def _about_any(name: str, source: str) -> WorkbenchFile:
    """Return a request with an expectation that makes sense for any controller."""
    question = WorkbenchQuestion(expect="utilisation >= 50%")
    return WorkbenchFile(name=name, controller=source, on="ccac, buffer 1 bdp, jitter 1 rtt", questions=[question])


def introduction(question: WorkbenchFile, folder: Path) -> dict[str, Any]:
    """Return the data of a new page, for JSON.

    `other` is the question for a controller that replaces the example; None if the page begins without the example.
    """
    return {
        "question": data(question),
        "other": data(_about_any("", "")) if data(question) == data(begin(None)) else None,
        "folder": str(folder),
        "made_by": f"ccmatic {__version__}",
        "controllers": [{"name": each.name, "says": each.says} for each in list_names("controllers")],
    }


def shipped_controller(name: str) -> str:
    if definitions.is_path(name):
        raise InputError(f"'{shown(name)}' is a path; expected the name of a controller that ccmatic ships")
    return find_program(name)[1]


def save(folder: Path, name: str, source: str, replace: bool) -> Path:
    """Write a controller's text to a file in a folder, and return its path. No file name can lead out of the folder.

    Raise FileExistsError if the file exists, and `replace` is false.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"the name is '{shown(name)}'; expected one such as my_controller.py, without a folder")
    path = folder / name
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise InputError(f"'{name}' is a link or a folder there; expected another name")
    if path.exists() and not replace:
        raise FileExistsError(name)
    with located(str(path)):
        write_text(path, source)
    return path


def text(name: str) -> str:
    return (files("ccmatic.workbench") / name).read_text(encoding="utf-8")
