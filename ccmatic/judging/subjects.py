"""Subjects: the code under test, by name, and the way to build this code."""

import ast
import hashlib
import importlib
import json
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Protocol

from ccmatic import __version__
from ccmatic.base import InputError, definitions, installed, read_text, shown, suggest, syntax_tree
from ccmatic.judging import scripts
from ccmatic.judging.builds import GUARD, Exported, controller_command, exported_library, shared_library

#: The package of the shipped adaptors, and the class that each defines.
_PACKAGE, _CLASS = "ccmatic.judging.adaptors", "Adaptor"

#: Files of a controller's folder by which the language of its code is recognised. Each has the module that builds the
#: code, and the pattern of the code's files.
_LANGUAGES = {"Cargo.toml": ("cargo", "src/**/*.rs"), "go.mod": ("golang", "**/*.go")}


@dataclass(frozen=True)
class Program:
    """The built program of an adaptor."""

    command: tuple[str, ...]  #: The command that runs scenarios.
    version: str  #: The version of the code that the program runs.
    notes: tuple[str, ...] = ()  #: Features of the program, and features that are switched off, such as MTU discovery.


class Adaptor(Protocol):
    """The connection of a stack to the path in virtual time."""

    stack: str  #: The name of the stack.
    controllers: tuple[str, ...]  #: The names of its controllers.
    toolchain: str  #: The least toolchain that builds the adaptor, such as `cargo 1.85`.
    version: str  #: The version of the stack that is built by default.

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        """Build the program, or take it from the cache."""
        ...


@dataclass(frozen=True)
class Subject:
    """A controller under test."""

    name: str  #: The name, such as `quinn:cubic`.
    adaptor: Adaptor
    controller: str  #: The name of the controller, such as `cubic`.
    argument: str  #: The word by which the program knows the controller.
    version: str | None = None  #: The requested version; None for the default one.
    source: Path | None = None  #: The folder of the sources; None for a version.

    @cached_property
    def program(self) -> Program:
        return self.adaptor.build(self.version, self.source)

    def command(self) -> tuple[str, ...]:
        """Return the command of the program. Build it again if somebody has deleted the cache."""
        if not all(Path(part).exists() for part in self.program.command if part.startswith("/")):
            del self.__dict__["program"]
        return self.program.command


class Kernel:
    """The adaptor of this machine's kernel, which runs scenarios itself."""

    stack, toolchain, version = "kernel", "root, ip and iperf3", "this machine's"
    controllers: tuple[str, ...] = ()

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        """Return the version of the kernel, and no command."""
        if version or source:
            raise InputError("the kernel is that of this machine; expected neither --version nor --source")
        return Program((), f"Linux {os.uname().release}", ("in real time over an emulated link",))

    def record(self, plan: Any, subject: Any) -> Any:
        """Run a scenario, as `ccmatic.judging.emulated.record` does."""
        from ccmatic.judging.emulated import record  # imported here: slow to import, and only the kernel needs it

        return record(plan, subject)


class _Alone:
    """An adaptor of one controller, whose program is built from a file."""

    toolchain = "cc"

    def __init__(self, stack: str, version: str, controller: str, command: Callable[[], tuple[str, ...]]) -> None:
        self.stack, self.version = stack, version
        self.controllers: tuple[str, ...] = (controller,)
        self._command = command

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        """Return the program, which has only one version."""
        return Program(self._command(), f"{self.stack} {self.version}", (_UNDER,))


#: The sender under which a controller alone runs.
_UNDER = "the controller alone, under a sender of RFC 9002"


def stacks() -> dict[str, Adaptor]:
    """Return the adaptors of all stacks by name: shipped adaptors, and adaptors of other packages."""
    found = _own()
    for name, point in installed.points("adaptors", found).items():
        found[name] = installed.load(point)()
    return found


def _own() -> dict[str, Adaptor]:
    """Return the adaptors that are part of ccmatic."""
    return {**_shipped(), "kernel": Kernel()}


def _shipped() -> dict[str, Adaptor]:
    """Return the adaptors that are part of ccmatic, without that of the kernel."""
    files = sorted((Path(__file__).parent / "adaptors").glob("*/__init__.py"))
    modules = [importlib.import_module(f"{_PACKAGE}.{file.parent.name}") for file in files]
    made = [getattr(module, _CLASS)() for module in modules]
    return {adaptor.stack: adaptor for adaptor in made}


def subject(name: str, version: str | None = None, source: str | Path | None = None) -> Subject:
    """Return the Subject with a name.

    The name is `STACK:CONTROLLER`; the name or file of a controller or policy of ccmatic, with `:upper`, `:lower` or
    `:drawn` for an envelope; `guard:ENVELOPE:policy:FILE` for a policy in a guard; a shared library `FILE.so`,
    optionally with `:CONTROLLER`; a C file; a Python file with a class Controller; or a folder of a controller in Rust
    or Go, or with a file adaptor.py.
    """
    head, _, tail = name.partition(":")
    if head == GUARD:
        found = _exported(name, name, "")
    elif Path(head).suffix in _FILES or (head and Path(head).is_dir() and not is_shipped(name)):
        found = _of_path(name, Path(head), tail)
    elif definitions.is_controller(head):
        build = partial(exported_library, head, tail)
        found = _alone(name, "ccmatic", __version__, head, build, tail or head)
    else:
        return _of_stack(name, head, tail, version, Path(source) if source else None)
    if version or source:
        raise InputError(f"{name} has one version only; expected neither --version nor --source")
    return found


def hosted_library(name: str) -> tuple[str, str]:
    """Return the library of a subject that the path itself runs beside another, and the controller's argument."""
    found = subject(name)
    command = found.command()
    if command != controller_command(Path(command[-1])):
        raise InputError(
            f"{name} cannot send beside another subject; expected a controller alone, such as a shipped controller"
        )
    return command[-1], found.argument


def is_shipped(name: str) -> bool:
    """Return whether the code of a subject is part of ccmatic, or named by an adaptor that is.

    A folder here with such a name, like a checkout of quinn, does not change the meaning of the name: `./quinn` does.
    """
    head = name.partition(":")[0]
    controllers = {each for folder in definitions.CONTROLLERS for each in definitions.shipped(folder)}
    return head in {*_own(), *controllers}


def run_command(name: str, witness: str) -> str:
    """Return the command that runs the witness of a subject again."""
    return f"ccmatic judge run {witness}" + ("" if is_shipped(name) else " --allow-code")


def require_shipped(names: Iterable[str], file: str, allow_code: bool) -> None:
    """Check that the subjects that a file names are part of ccmatic."""
    for name in () if allow_code else names:
        if not is_shipped(name):
            problem = f"it names '{shown(name)}', whose code would be built and run"
            raise InputError(f"{problem}; give --allow-code if you trust it, otherwise name a shipped subject", file)


def _of_stack(name: str, stack: str, controller: str, version: str | None, source: Path | None) -> Subject:
    known = _own()
    if stack not in known:
        known = stacks()
    if stack not in known:
        names = [*known, *(each for folder in definitions.CONTROLLERS for each in definitions.shipped(folder))]
        raise InputError(f"there is no subject '{shown(name)}'; {suggest(shown(stack), names)}")
    adaptor = known[stack]
    if adaptor.controllers and controller not in adaptor.controllers:
        options = ", ".join(f"{stack}:{each}" for each in adaptor.controllers)
        raise InputError(f"there is no subject '{shown(name)}'; expected one of {options}")
    if version and source:
        raise InputError("both a version and a source are given; expected one of them")
    return Subject(name, adaptor, controller, controller, version, source)


def _of_path(name: str, path: Path, controller: str) -> Subject:
    """Return the subject of a file or folder."""
    if path.is_dir():
        return _of_folder(name, path, controller)
    if not path.is_file():
        raise InputError("cannot read: no such file", str(path))
    return _FILES[path.suffix](name, path, controller)


def _of_folder(name: str, folder: Path, controller: str) -> Subject:
    controller = controller or folder.resolve().name
    if (folder / "adaptor.py").is_file():
        adaptor: Adaptor = definitions.load_from_folder(folder, "adaptor", _CLASS)()
        return Subject(name, adaptor, controller, controller)
    for file, (module, code) in _LANGUAGES.items():
        if (folder / file).is_file():
            build = importlib.import_module(f"{_PACKAGE}.{module}").build_library
            version = _version(folder / file, *sorted(folder.glob(code)))
            return _alone(name, folder.name, version, controller, partial(build, folder))
    for own in sorted(folder.glob("controller.*")):
        if own.suffix in _FILES:
            return _FILES[own.suffix](name, own, controller)
    expected = " or ".join(("adaptor.py", *_LANGUAGES, "controller.c", "controller.py"))
    raise InputError(f"has no controller; expected a file {expected}", str(folder))


def _of_library(name: str, library: Path, controller: str) -> Subject:
    return _alone(name, library.name, _version(library), controller or library.stem, library.resolve)


def _of_c(name: str, file: Path, controller: str) -> Subject:
    def build() -> Path:
        # The compiler reads a copy, but its messages name the user's file. JSON quotes the name as C does.
        text = f"#line 1 {json.dumps(str(file), ensure_ascii=False)}\n{read_text(file)}"
        return shared_library(file.stem, {f"{file.stem}.c": text}) / f"{file.stem}.so"

    return _alone(name, file.name, _version(file), controller or file.stem, build)


def _of_python(name: str, file: Path, controller: str) -> Subject:
    """Return the subject of a Python file: a class that controls, or a controller of ccmatic's language."""
    try:
        tree = syntax_tree(read_text(file))
    except SyntaxError as error:
        raise InputError(f"cannot read: {error.msg}", str(file), error.lineno) from None
    if not any(isinstance(node, ast.ClassDef) and node.name == scripts.CLASS for node in tree.body):
        return _exported(name, file, controller)
    controller = controller or file.stem
    adaptor: Adaptor = _Alone(file.name, _version(file), controller, partial(scripts.command, file))
    return Subject(name, adaptor, controller, controller)


def _exported(name: str, file: str | Path, choice: str) -> Subject:
    exported = Exported(str(file), choice or None)
    return _alone(name, "ccmatic", __version__, exported.controller, exported.library, exported.argument)


def _alone(
    name: str, stack: str, version: str, controller: str, library: Callable[[], Path], argument: str | None = None
) -> Subject:
    """Return the subject of a shared library with the functions of controller.h."""
    adaptor: Adaptor = _Alone(stack, version, controller, lambda: controller_command(library()))
    return Subject(name, adaptor, controller, argument or controller)


def _version(*files: Path) -> str:
    """Return a word that changes with the content of files."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files if file.is_file())).hexdigest()[:8]


#: For each suffix of a file, the function that returns its subject.
_FILES: dict[str, Callable[[str, Path, str], Subject]] = {
    ".so": _of_library,
    ".c": _of_c,
    ".py": _of_python,
    ".json": _exported,
}
