"""Build code in Go with the user's go."""

import inspect
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.judging.builds import built, path_library, run_tool
from ccmatic.judging.subjects import Program

#: The time limit of a build in seconds. A first build downloads modules, and compiles all of them.
_PATIENCE = 600

#: The sources that all adaptors of whole stacks have in common, the template of unit tests, which is no source of a
#: program, and the least version of go for virtual time.
_WHOLE, _TEMPLATE, _GO = Path(__file__).parent / "whole", "regression_test.go", (1, 26)


class WholeStack:
    """An adaptor of a whole stack in Go. Its subclass is in the folder of the adaptor's sources, go.mod and go.sum."""

    stack: str
    path: str  #: The path of the module.
    version: str  #: The version in the adaptor's go.mod.
    oldest: tuple[int, int, int]  #: The oldest version that the sources support.
    controllers: tuple[str, ...]  #: The names of its controllers.
    notes: tuple[str, ...]  #: The features that every run uses in another way than the stack does by default.
    toolchain = f"go {_GO[0]}.{_GO[1]}"

    def versions(self) -> tuple[str, ...]:
        """Return the released versions that the adaptor supports, oldest first."""
        go_version(_GO)
        with tempfile.TemporaryDirectory() as place:
            listed = run_go(["list", "-m", "-versions", self.path], Path(place)).split()[1:]
        releases = [tuple(map(int, version.split("."))) for name in listed if "-" not in (version := name[1:])]
        return tuple(".".join(map(str, release)) for release in sorted(releases) if release >= self.oldest)

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        """Build the adaptor, or take it from the cache. The adaptor is a test, which virtual time needs."""
        folder = Path(inspect.getfile(type(self))).parent
        chosen = re.fullmatch(r"v?(\d+\.\d+\.\d+(-[\w.]+)?)", version or self.version)
        if not chosen:
            raise InputError(f"{version!r} is no version of {self.stack}, such as {self.version}")
        checkout = self._checkout(source) if source else None
        tools, library = go_version(_GO), path_library()
        pinned = chosen[1] == self.version and not checkout
        own = [file for file in (*_sources(folder), *_sources(_WHOLE)) if file.name != _TEMPLATE]
        modules = [folder / name for name in ("go.mod", "go.sum")]
        inputs: list[str | Path] = [tools, chosen[1], str(checkout), *sorted(library.iterdir()), *own, *modules]
        inputs += [*_sources(checkout), checkout / "go.mod", checkout / "go.sum"] if checkout else []

        def make(partial: Path) -> None:
            for file in (*own, *modules) if pinned else own:
                shutil.copy(file, partial)
            if not pinned:
                replaced = f"replace {self.path} => {checkout}\n" if checkout else ""
                needed = (
                    f"module ccmatic/judging/{self.stack}\n\ngo 1.26\n\nrequire {self.path} v{chosen[1]}\n{replaced}"
                )
                (partial / "go.mod").write_text(needed)
            flags = {"CGO_CFLAGS": f"-O2 -I{library}", "CGO_LDFLAGS": f"-L{library}"}
            run_go(["test", "-c", "-mod", "readonly" if pinned else "mod", "-o", "adaptor", "."], partial, flags)

        program = built(self.stack, inputs, make) / "adaptor"
        release = f"{self.stack} from {checkout}" if checkout else f"{self.stack} {chosen[1]}"
        return Program((str(program), "-test.run=TestAdaptor"), release, self.notes)

    def _checkout(self, source: Path) -> Path:
        """Return the folder of a checkout. Raise InputError if the folder does not contain the module."""
        module = source / "go.mod"
        if not module.is_file() or f"module {self.path}\n" not in module.read_text():
            raise InputError(f"no go.mod of {self.path} is here", str(source))
        return source.resolve()


def _sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.go"))


def go_version(least: tuple[int, int]) -> str:
    """Return the version of go, which is at least the version that the code needs."""
    if not shutil.which("go"):
        raise InputError("there is no go, which builds this subject; https://go.dev/dl has it")
    version = run_go(["env", "GOVERSION"], Path.cwd()).strip()
    numbers = re.match(r"go(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) < least:
        raise InputError(f"go is too old: found {version}, expected go{least[0]}.{least[1]} or later")
    return version


def run_go(arguments: list[str], folder: Path, variables: Mapping[str, str] | None = None) -> str:
    return run_tool(
        ["go", *arguments], folder, {"CGO_ENABLED": "1", **(variables or {})}, ("go: downloading",), _PATIENCE
    )


def build_library(folder: Path) -> Path:
    """Build a Go module of the user that exports the functions of controller.h, and return the shared library."""
    go_version((1, 21))
    with tempfile.TemporaryDirectory() as place:
        library = Path(place) / "controller.so"
        run_go(["build", "-buildmode", "c-shared", "-o", str(library), "."], folder)

        def keep(folder: Path) -> None:
            shutil.copy(library, folder)

        return built("go-controller", [library], keep) / library.name
