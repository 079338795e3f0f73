"""The cache of built programs, the path in C as a library, and the controllers that run alone."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache as once
from pathlib import Path
from typing import Any

from ccmatic.base import InputError, definitions, read_text
from ccmatic.base.memory import code_digest
from ccmatic.worlds.runtime import compile_c, include_folder, shipped

#: The options of all C code that is built here.
_FLAGS = ["-std=gnu99", "-O2", "-fPIC"]

#: The stages of the path (stage.c): for each, the role of its model, and further options.
_STAGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "drop_tail": ("EMULATED", ()),
    "chance": ("LOSSY", ("-DSTAGE_LOSES_BY_CHANCE",)),
    "bucket": ("POLICES", ()),
}

#: The folder of the program that runs controllers alone.
_CONTROLLERS = Path(__file__).parent / "adaptors" / "controllers"


def cache() -> Path:
    """Return the folder of all builds, and create it if necessary. Users may delete this folder at any time."""
    home = os.environ.get("XDG_CACHE_HOME")
    folder = (Path(home) if home and Path(home).is_absolute() else Path.home() / ".cache") / "ccmatic" / "judge"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot create the cache of builds: {error.strerror}", str(folder)) from None
    return folder


def built(name: str, inputs: Iterable[str | Path], make: Callable[[Path], None]) -> Path:
    """Return a folder of the cache.

    If the folder does not exist, build it under another name, and rename it at the end.
    """
    digest = hashlib.sha256()
    for part in inputs:
        content = part.read_bytes() if isinstance(part, Path) else part.encode()
        digest.update(len(content).to_bytes(8, "big") + content)
    folder = cache() / f"{name}-{digest.hexdigest()[:24]}"
    if folder.is_dir():
        return folder
    partial = Path(tempfile.mkdtemp(prefix=".partial-", dir=cache()))
    try:
        make(partial)
        with suppress(OSError):  # another process may have finished the same build
            partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    if not folder.is_dir():
        raise InputError("cannot keep the build in the cache", str(folder))
    return folder


def run_tool(
    command: list[str],
    folder: Path,
    variables: Mapping[str, str],
    progress: tuple[str, ...],
    seconds: float | None = None,
) -> str:
    """Run a tool in a folder, and return its output. If it fails, raise InputError with the end of its messages.

    Lines that begin with a word of `progress` are no messages. The tool may take a number of seconds.
    """
    environment, name = {**os.environ, **variables}, " ".join(command[:2])
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        raise InputError(f"{name} takes longer than {seconds} s") from None
    if done.returncode:
        messages = [line for line in done.stderr.splitlines() if not line.lstrip().startswith(progress)]
        raise InputError(f"{name} fails: " + "\n".join(messages)[-2000:].strip(), str(folder))
    return done.stdout


def path_library() -> Path:
    """Return the folder of path.h, controller.h and the static library libccmatic_path.a. Build it if necessary.

    Programs that link the library need the option `-ldl` before glibc 2.34.
    """
    return built("path", [*_compiler(), *_sources()], _make_path)


def controller_library() -> Path:
    """Return the program of `controller_command` as a shared library, for controllers that are written in Python."""
    return _controllers() / "controllers.so"


def controller_command(library: Path) -> tuple[str, ...]:
    """Return the command that runs the controllers of a shared library, whose functions controller.h declares."""
    return str(_controllers() / "controllers"), str(library)


def shared_library(name: str, sources: dict[str, str]) -> Path:
    """Return the folder of a shared library NAME.so that is built from C sources with the functions of controller.h."""
    header = Path(str(include_folder())) / "controller.h"

    def make(folder: Path) -> None:
        for file, text in sources.items():
            (folder / file).write_text(text, encoding="utf-8")
        options = [*_FLAGS, "-shared", f"-I{header.parent}", f"-I{folder}"]
        compile_c([*options, "-o", str(folder / f"{name}.so"), str(folder / f"{name}.c"), "-lm"])

    inputs: list[str | Path] = [*_compiler(), header, *(f"{file}\n{text}" for file, text in sources.items())]
    return built(name, inputs, make)


def exported_library(controller: str, choice: str) -> Path:
    """Return the shared library of a shipped controller.

    The library depends on ccmatic's code only. So the cache can answer without reading the controller, which is slow.
    """

    def make(folder: Path) -> None:
        shutil.copy(Exported(controller, choice or None).library(), folder)

    return built(controller, [*_compiler(), code_digest(), controller, choice], make) / f"{controller}.so"


def _controllers() -> Path:
    return built("controllers", [*_compiler(), *_sources(), *sorted(_CONTROLLERS.glob("*.[ch]"))], _make_controllers)


def _make_path(folder: Path) -> None:
    source = Path(str(include_folder()))
    parts: list[tuple[str, str, list[str]]] = [("path", "path.c", [])]
    for stage, (_, more) in _STAGES.items():
        parts.append((stage, "stage.c", [f'-DLINK="{_models()[stage]}"', f"-DSTAGE=stage_{stage}", *more]))
    for name, file, options in parts:
        compile_c([*_FLAGS, *options, f"-I{source}", "-c", "-o", str(folder / f"{name}.o"), str(source / file)])
    archiver = shutil.which("ar")
    if not archiver:
        raise InputError("there is no ar; on Debian, apt-get install binutils")
    objects = [str(folder / f"{name}.o") for name, _, _ in parts]
    subprocess.run([archiver, "rcs", str(folder / "libccmatic_path.a"), *objects], check=True, capture_output=True)
    for name in objects:
        Path(name).unlink()
    for name in ("path.h", "controller.h"):
        (folder / name).write_text(read_text(source / name), encoding="utf-8")


def _make_controllers(folder: Path) -> None:
    library, run = path_library(), _CONTROLLERS / "run.c"
    options = [*_FLAGS, f"-I{include_folder()}", f"-I{_CONTROLLERS}"]
    link = [f"-L{library}", "-lccmatic_path", "-ldl"]
    compile_c([*options, "-o", str(folder / "controllers"), str(_CONTROLLERS / "main.c"), str(run), *link])
    compile_c([*options, "-shared", "-o", str(folder / "controllers.so"), str(run), *link])


def _sources() -> list[Path]:
    """Return the C files of the runtime, and the files that choose and simulate the models of the stages."""
    models = definitions.folder("models")
    return [*sorted(Path(str(include_folder())).glob("*.[ch]")), models / "__init__.py", *sorted(models.glob("*/*.h"))]


@once
def _models() -> dict[str, Path]:
    from ccmatic.contracts import (  # imported here: slow to import, and only builds need it
        PACKETS,
        load_definition,
        world,
    )

    chosen = {stage: definitions.chosen("models", role) for stage, (role, _) in _STAGES.items()}
    return {stage: Path(world(load_definition("models", "MODEL", name), PACKETS)) for stage, name in chosen.items()}


def _compiler() -> tuple[str, ...]:
    """Return everything that determines the compiler's output, except the sources."""
    return os.environ.get("CC", ""), os.uname().machine, *_FLAGS


# ---- controllers of ccmatic as libraries ----

#: The word before an envelope and the policy whose rates it limits.
GUARD = "guard"

#: The ways to choose a rate in an envelope: its highest, its lowest, or a new one in each step, drawn by the seed.
CHOICES = ("upper", "lower", "drawn")

#: The C code around an exported header.
_AROUND = _CONTROLLERS / "exported.c"

#: The library of exported policies, which count no application limits.
_POLICY = "policy_library.c"


class Exported:
    """A controller of ccmatic that becomes a shared library.

    Attributes:
        controller: The name of the controller.
        argument: The argument of controller_new.
    """

    def __init__(self, file: str, choice: str | None) -> None:
        self._export = export = _export(file)
        from ccmatic.deployment.policies import GuidedExport  # imported here: slow to import, and stacks do not need it

        guided = isinstance(export, GuidedExport)  # a network chooses the rate in the envelope
        envelope = bool(getattr(export, "is_envelope", False)) and export.library != _POLICY and not guided
        if envelope and choice not in CHOICES:
            options = " or ".join(f"{file}:{each}" for each in CHOICES)
            raise InputError(f"{export.name} is an envelope, which leaves a choice of rates; expected {options}")
        if choice and not envelope:
            raise InputError(f"{export.name} is no envelope; expected {file} alone, found {file}:{choice}")
        self.controller: str = export.name
        self.argument = choice or self.controller

    def library(self) -> Path:
        name, around = self.controller, read_text(_AROUND).replace("NAME", self.controller)
        limits = "" if self._export.library == _POLICY else "#define ALONE_LIMITED\n"
        sources = {f"{name}.c": limits + around, f"{name}.h": self._export.header(), "draw.h": shipped("draw.h")}
        return shared_library(name, sources) / f"{name}.so"


def _export(file: str) -> Any:
    from ccmatic.deployment import exporting, policies  # imported here, as above

    guard, _, text = file.partition(":")
    if guard == GUARD:
        return policies.guarded(text)
    if Path(file).suffix == ".json":
        return policies.exported(policies.load(file))
    return exporting.make(file, guarding=True)
