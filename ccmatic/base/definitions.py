"""Lookup of definitions by name or path.

A name stands for a definition of ccmatic or of another installed package. A path leads to a user's own file.
"""

import importlib
import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from ccmatic.base import installed
from ccmatic.base.errors import InputError, Unreadable, blamed, register, shown, suggest
from ccmatic.base.files import read_text

#: The folders that contain controllers.
CONTROLLERS = ("synthesized", "examples.controllers")

#: The main file of a definition that is a folder. All other definitions are single files.
IN_FOLDER = "laws.py"

#: The syntax NAME:parameter=value,…
_WITH_PARAMETERS = re.compile(r"(.+?):(\w+=.*)", re.DOTALL)


@dataclass(frozen=True)
class Alias:
    of: str
    says: str


def load(kind, attribute, name, allow_code=False, check=lambda definition, file: None):
    """Return the object `attribute` of a definition, with the parameters that are part of its name.

    Loading runs the code of files and packages, and therefore requires `allow_code`. Set it for names that a user
    typed, not for names inside data. A name that ccmatic ships always means the shipped definition.

    Args:
        kind: The folder, such as `models`.
        attribute: The variable that the definition's file sets, such as MODEL.
        name: The path of a file or folder, a name in the folder `kind`, or the name of another package's entry point.
            If the definition has parameters, they may follow the name, as in `ccac2021:flows=2`.
        allow_code: Whether files of users and other packages may be run.
        check: A function that is called with the object, before parameters are set, and with its file, unless ccmatic
            ships the definition.
    """
    if not isinstance(name, (str, Path)):
        raise InputError(f"{shown(name)} is no name in {kind}; {suggest(shown(name), _known(kind, attribute))}")
    base, parameters = split(kind, name)
    definition = _load(kind, attribute, base, allow_code)
    if file := own_file(kind, base):
        check(definition, file)
    if not parameters:
        return definition
    if not hasattr(definition, "with_parameters"):
        raise InputError(f"'{base}' has no parameters; expected the name without {', '.join(parameters)}")
    return definition.with_parameters(parameters)


def split(kind, name):
    """Return the name without parameters, with its alias resolved, and the texts of the parameters by name.

    Parameters after an alias override those of the alias.
    """
    base, parameters = _read_parameters(str(name))
    if alias := aliases(kind).get(base):
        base, defaults = _read_parameters(alias.of)
        parameters = defaults | parameters
    return base, parameters


def _read_parameters(name):
    base, text = _parts(name)
    parameters = {}
    for part in text.split(",") if text else ():
        key, equals, value = part.partition("=")
        if not equals or not value or not key.isidentifier():
            raise InputError(f"cannot read '{shown(part)}' in '{shown(name)}'; expected NAME:parameter=value,…")
        if key in parameters:
            raise InputError(f"the parameter '{key}' is given twice in '{shown(name)}'; expected it once")
        parameters[key] = value
    return base, parameters


def aliases(kind):
    return getattr(importlib.import_module(f"ccmatic.{kind}"), "ALIASES", {})


def _parts(name):
    with_parameters = _WITH_PARAMETERS.fullmatch(name)
    return with_parameters.groups() if with_parameters else (name, "")


def _load(kind, attribute, name, allow_code):
    if name in _defining(kind, attribute, (name,)):
        return getattr(_shipped_module(kind, _files(kind, ".py")[name]), attribute)
    if not is_path(name):
        return _load_installed(kind, attribute, name, allow_code)
    if not allow_code:
        raise InputError(
            f"it names the file '{name}' for its {kind}, whose code would be run; give --allow-code if you trust "
            "it, otherwise name a shipped definition"
        )
    file = _file_of(name)
    if not file.is_file():
        raise Unreadable("cannot read: no such file", str(file))
    if file.suffix != ".py":
        raise InputError(f"no Python file; expected {attribute} in a file NAME.py", str(file))
    module = _run(lambda: run_file(file.stem, file), str(file))
    if not hasattr(module, attribute):
        raise InputError(f"the definition sets no {attribute}", getattr(module, "__file__", name))
    return getattr(module, attribute)


class _TextLoader(SourceFileLoader):
    """Runs the text of a file, never its bytecode, which may be that of an earlier text.

    Python compares the size and the second of the last change alone.
    """

    def get_code(self, fullname):
        return self.source_to_code(self.get_data(self.path), self.path)


def run_file(name, file):
    file = str(Path(file).absolute())
    spec = importlib.util.spec_from_file_location(name, file, loader=_TextLoader(name, file))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _defining(kind, attribute, names):
    """Return those of the names whose shipped files set the attribute. Other files are helpers."""
    files = _files(kind, ".py")
    return [name for name in names if name in files and hasattr(_shipped_module(kind, files[name]), attribute)]


def _known(kind, attribute):
    return sorted([*_defining(kind, attribute, _files(kind, ".py")), *aliases(kind)])


def load_from_folder(folder, name, attribute):
    """Return the object `attribute` of the file NAME.py in a user's folder, which is run.

    Files of the folder may import each other, as in `from .losses import loss`.
    """
    from hashlib import sha256  # imported here, because it loads a library, and few commands need it

    folder = Path(folder).absolute()
    file = folder / f"{name}.py"
    if not file.is_file():
        raise Unreadable("cannot read: no such file", str(file))
    package = f"ccmatic_folder_{sha256(str(folder).encode()).hexdigest()[:12]}"
    for loaded in [each for each in sys.modules if each.partition(".")[0] == package]:
        del sys.modules[loaded]  # the file may have changed since the earlier import
    sys.modules[package] = ModuleType(package)
    sys.modules[package].__path__ = [str(folder)]
    sys.path_importer_cache[str(folder)] = FileFinder(str(folder), (_TextLoader, [".py"]))
    for part in folder.glob("*.py"):
        register(part)
    _run(lambda: importlib.import_module(f"{package}.{name}"), file)
    module = sys.modules[f"{package}.{name}"]
    if not hasattr(module, attribute):
        raise InputError(f"the definition sets no {attribute}", str(file))
    return getattr(module, attribute)


def own_file(kind, name):
    """Return the file of a definition that ccmatic does not ship; None for a shipped definition."""
    base, _ = split(kind, name)
    if is_path(base):
        return _file_of(base)
    return None if base in shipped(kind) else Path(installed.file(installed.points(kind, shipped(kind))[base]))


def own_texts(names):
    """Return the texts of the definitions that ccmatic does not ship, by name.

    The `names` are by kind, such as `models`.
    """
    files = {name: own_file(kind, name) for kind, name in names.items() if name}
    return {name: read_text(file) for name, file in files.items() if file}


def _file_of(path):
    return Path(path) / IN_FOLDER if Path(path).is_dir() else Path(path)


def find_file(kinds, name, suffix):
    """Return the path `name`, or the shipped file of this name and suffix in one of the folders `kinds`."""
    if is_path(name):
        return Path(name)
    files = {stem: path for kind in kinds for stem, path in _files(kind, suffix).items()}
    if name not in files:
        folders = " or ".join(kind.replace(".", "/") for kind in kinds)
        suggestion = _suggestion(name, files, suffix)
        if tuple(kinds) == CONTROLLERS and not suggestion.startswith("did"):
            suggestion = "expected a .py or .onnx file, or a name that `ccmatic list controllers` prints"
        raise InputError(f"there is no '{shown(name)}' in {folders}; {suggestion}")
    return files[name]


def chosen(kind, role):
    """Return the value that the folder `kind` declares as `role` in its `__init__`, such as the DEFAULT of properties.

    Roles allow the engine's code to use definitions without their names.
    """
    return getattr(importlib.import_module(f"ccmatic.{kind}"), role)


def folder(kind):
    return Path(importlib.import_module(f"ccmatic.{kind}").__file__).parent


def is_controller(name):
    return is_path(name) or any(name in shipped(folder) for folder in CONTROLLERS)


def shipped(kind, suffix=".py"):
    """Return the sorted names of shipped files with this suffix in the folder `kind`."""
    return sorted([*_files(kind, suffix), *(aliases(kind) if suffix == ".py" else ())])


def every(kind, attribute):
    """Return the objects `attribute` of all definitions in the folder `kind` that set it, then those of its aliases."""
    modules = [_shipped_module(kind, file) for file in _files(kind, ".py").values()]
    definitions = [getattr(module, attribute) for module in modules if hasattr(module, attribute)]
    return [*definitions, *(load(kind, attribute, name) for name in aliases(kind))]


def is_path(name):
    """Return whether `name` is a path instead of the name of a shipped definition."""
    base, _ = _parts(str(name))
    return isinstance(name, Path) or Path(base).suffix in (".py", ".toml", ".json", ".onnx") or "/" in base


def absolute(name):
    """Return a name unchanged and a path made absolute, so that records can be read from another folder."""
    return str(Path(name).absolute()) if name and is_path(name) else name


@cache
def _files(kind, suffix):
    """Return the files of shipped definitions by name, sorted: NAME.py, or NAME/laws.py."""
    place = folder(kind)
    files = {path.stem: path for path in place.glob(f"*{suffix}") if path.stem != "__init__"}
    if suffix == ".py":
        files |= {path.parent.name: path for path in place.glob(f"*/{IN_FOLDER}")}
    return dict(sorted(files.items()))


def _shipped_module(kind, file):
    within = f"{file.parent.name}.{file.stem}" if file.name == IN_FOLDER else file.stem
    return importlib.import_module(f"ccmatic.{kind}.{within}")


def _suggestion(name, names, suffix):
    """Return a suggestion for an unknown name: the file of that name, if it exists here, or similar names."""
    file = f"{name}{suffix}"
    return f"did you mean './{file}'?" if os.path.isfile(file) else suggest(shown(name), names)


def _load_installed(kind, attribute, name, allow_code):
    points = installed.points(kind, shipped(kind))
    if name not in points:
        suggestion = _suggestion(name, [*_known(kind, attribute), *points], ".py")
        raise InputError(f"there is no '{shown(name)}' in {kind}; {suggestion}")
    if not allow_code:
        raise InputError(
            f"it names '{name}' for its {kind}, which runs code of {installed.origin(points[name])}; give "
            "--allow-code if you trust it, otherwise name a shipped definition"
        )
    return installed.load(points[name])


def _run(load_module, name):
    register(name)
    try:
        with blamed():
            return load_module()
    except SyntaxError as error:
        raise InputError(f"not Python: {error.msg}", str(name), error.lineno) from None
