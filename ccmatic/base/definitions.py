"""Finds definitions by name, among those that ccmatic ships and those of other installed packages, or by path, among a
person's own files."""

import importlib
import importlib.util
import os
from pathlib import Path

from ccmatic.base import blame, installed
from ccmatic.base.errors import InputError, Unreadable, shown, suggest

#: The folders of controllers.
CONTROLLERS = ("synthesized", "examples.controllers")


def load(kind, attribute, name, allow_code=False):
    """The object `attribute` of a definition file: `name` is a file's path, a name in the folder `kind`, or that of
    another package's entry point.

    The code of files and packages is run, so these will do only where `allow_code` says so: for names that a person
    gave, not for those that stand in data. A name that ccmatic ships is never another's. Raises InputError.
    """
    if not isinstance(name, str):
        raise InputError(f"{shown(name)} is no name in {kind}; {suggest(shown(name), shipped(kind))}")
    if is_path(name):
        if not allow_code:
            raise InputError(
                f"it names '{name}' for its {kind}, a file whose code would be run; if you trust that file, "
                "give --allow-code, else expected the name of a shipped definition"
            )
        if not Path(name).is_file():
            raise Unreadable("cannot read: no such file", str(name))
        spec = importlib.util.spec_from_file_location(Path(name).stem, Path(name).absolute())
        module = importlib.util.module_from_spec(spec)
        _run(lambda: spec.loader.exec_module(module), name)
    elif name in shipped(kind):
        module = importlib.import_module(f"ccmatic.{kind}.{name}")
    else:
        return _load_installed(kind, name, allow_code)
    if not hasattr(module, attribute):
        raise InputError(f"the definition sets no {attribute}", getattr(module, "__file__", name))
    return getattr(module, attribute)


def own_file(kind, name):
    """The file of a definition that ccmatic does not ship; None of one that it does."""
    if is_path(name):
        return Path(name)
    return None if name in shipped(kind) else Path(installed.file(installed.points(kind, shipped(kind))[name]))


def find_file(kinds, name, suffix):
    """The Path of the file that `name` means: itself, if it is a path, else the shipped file of this name and suffix in
    one of the folders `kinds`. Raises InputError if there is none."""
    if is_path(name):
        return Path(name)
    known = {path.stem: path for kind in kinds for path in reversed(_files(kind, suffix))}
    if name not in known:
        folders = " or ".join(kind.replace(".", "/") for kind in kinds)
        raise InputError(f"there is no '{shown(name)}' in {folders}; {_meant(name, known, suffix)}")
    return known[name]


def chosen(kind, role):
    """What the folder `kind` declares as `role` in its `__init__`, such as the name of the DEFAULT property: so the
    engine itself knows no definition by name."""
    return getattr(importlib.import_module(f"ccmatic.{kind}"), role)


def is_controller(name):
    """Whether `name` is a path, or what a shipped controller is called."""
    return is_path(name) or any(name in shipped(folder) for folder in CONTROLLERS)


def shipped(kind, suffix=".py"):
    """The names, sorted, of the files with this suffix that ccmatic ships in the folder `kind`."""
    return [path.stem for path in _files(kind, suffix)]


def every(kind, attribute):
    """The objects `attribute` of all definitions in the folder `kind` that set it."""
    modules = [importlib.import_module(f"ccmatic.{kind}.{name}") for name in shipped(kind)]
    return [getattr(module, attribute) for module in modules if hasattr(module, attribute)]


def is_path(name):
    """Whether `name` is a path rather than the name of something shipped."""
    return isinstance(name, Path) or Path(name).suffix in (".py", ".toml", ".json") or "/" in str(name)


def absolute(name):
    """The name, or the path made absolute, so that a record of it can be read from another folder."""
    return str(Path(name).absolute()) if name and is_path(name) else name


def _files(kind, suffix):
    package = importlib.import_module(f"ccmatic.{kind}")
    folder = Path(package.__file__).parent
    return sorted(path for path in folder.glob(f"*{suffix}") if path.stem != "__init__")


def _meant(name, known, suffix):
    """What to write in place of a name that is not known: the file of that name, if there is one here."""
    file = f"{name}{suffix}"
    return f"did you mean './{file}'?" if os.path.isfile(file) else suggest(shown(name), known)


def _load_installed(kind, name, allow_code):
    found = installed.points(kind, shipped(kind))
    if name not in found:
        raise InputError(f"there is no '{shown(name)}' in {kind}; {_meant(name, [*shipped(kind), *found], '.py')}")
    if not allow_code:
        raise InputError(
            f"it names '{name}' for its {kind}, whose code is of {installed.origin(found[name])}; if you trust that, "
            "give --allow-code, else expected the name of a shipped definition"
        )
    return installed.load(found[name])


def _run(load_module, name):
    """Run a person's file."""
    blame.register(name)
    try:
        with blame.blamed():
            load_module()
    except SyntaxError as error:
        raise InputError(f"not Python: {error.msg}", str(name), error.lineno) from None
