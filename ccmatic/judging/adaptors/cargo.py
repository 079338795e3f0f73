"""Build the adaptors that are written in Rust, with the user's cargo."""

import inspect
import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.judging.builds import built, cache, path_library, run_tool
from ccmatic.judging.subjects import Program

#: Files that a build reads.
_SOURCES = (".rs", ".toml", ".lock", ".der", ".pem")

#: The sources that all adaptors of whole stacks have in common. Its build.rs belongs beside their Cargo.toml.
_WHOLE = Path(__file__).parent / "whole"


@dataclass(frozen=True)
class Crate:
    name: str  #: The crate's name.
    version: str  #: The version in the adaptor's Cargo.toml.
    #: A function that takes the folder of the crate's sources. The function returns variables for the adaptor's build
    #: script, which depend on the crate's version.
    environment: Callable[[Path], Mapping[str, str]]


def build(
    folder: Path, crate: Crate, version: str | None, source: Path | None, path: Path | None = None
) -> tuple[Path, str]:
    toolchain = _toolchain()
    if version and not re.fullmatch(r"\d+\.\d+\.\d+(-[\w.]+)?", version):
        raise InputError(f"{version!r} is no version of {crate.name}, such as {crate.version}")
    checkout = _checkout(crate, source) if source else None
    files = [file for root in (folder, checkout) if root for file in sorted(root.rglob("*")) if _counts(file)]
    common = sorted(_WHOLE.glob("*.rs")) if path else []
    files += [path / "libccmatic_path.a", *common] if path else []
    variables = {"CCMATIC_PATH": str(path)} if path else {}

    def make(partial: Path) -> None:
        copy = partial / "sources"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("*.py", "__pycache__", "target"))
        for file in common:
            shutil.copy2(file, copy if file.name == "build.rs" else copy / "src")
        _choose(copy, crate, version, checkout)
        resolved = _resolved(copy, crate, locked=not (version or checkout))
        own = crate.environment(Path(resolved["manifest_path"]).parent)
        shutil.copy2(_compile(copy, {**variables, **own}), partial / "product")
        (partial / "version").write_text(resolved["version"])
        shutil.rmtree(copy)

    done = built(crate.name, [f"{version} {checkout} {toolchain}", *files], make)
    built_version = (done / "version").read_text()
    return done / "product", f"{built_version} from {checkout}" if checkout else built_version


class WholeStack:
    """An adaptor of a whole stack in Rust. Its subclass is in the folder of the adaptor's sources."""

    stack: str  #: The name of the stack.
    crate: Crate
    controllers: tuple[str, ...]  #: The names of its controllers.
    notes: tuple[str, ...]  #: The features that every run uses in another way than the stack does by default.
    toolchain = "cargo 1.85"

    def __init__(self) -> None:
        self.version = self.crate.version

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        folder = Path(inspect.getfile(type(self))).parent
        program, release = build(folder, self.crate, version, source, path_library())
        return Program((str(program),), f"{self.crate.name} {release}", self.notes)


def build_library(folder: Path) -> Path:
    """Build a crate of the user that makes a shared library, and return the library."""
    _toolchain()
    library = _compile(folder, {})
    if library.suffix not in (".so", ".dylib"):
        raise InputError('makes no shared library; its Cargo.toml needs crate-type = ["cdylib"]', str(folder))
    return built(folder.name, [library], lambda partial: _keep(library, partial)) / library.name


def _keep(file: Path, folder: Path) -> None:
    shutil.copy2(file, folder)


@once
def _toolchain() -> str:
    """Return the version of the compiler. Raise InputError if there is no cargo."""
    if not shutil.which("cargo"):
        raise InputError("there is no cargo, which builds this subject; https://rustup.rs installs it")
    return _run(["rustc", "--version"], Path.cwd(), {})


def _counts(file: Path) -> bool:
    return file.suffix in _SOURCES and "target" not in file.parts


def _checkout(crate: Crate, source: Path) -> Path:
    for folder in (source, source / crate.name, *source.glob(f"*/{crate.name}")):
        manifest = folder / "Cargo.toml"
        if manifest.is_file() and re.search(rf'^name\s*=\s*"{crate.name}"', manifest.read_text(), re.MULTILINE):
            return folder.resolve()
    raise InputError(f"there is no crate {crate.name}", str(source))


def _choose(folder: Path, crate: Crate, version: str | None, checkout: Path | None) -> None:
    """Set the crate's version, or the folder of its checkout, in the Cargo.toml of a folder."""
    manifest, lock = folder / "Cargo.toml", folder / "locks" / f"{version}.lock"
    chosen = f"path = {json.dumps(str(checkout))}" if checkout else f'version = "={version or crate.version}"'
    pinned = f'version = "={crate.version}"'
    manifest.write_text(manifest.read_text().replace(pinned, chosen))
    if lock.is_file():
        shutil.copy2(lock, folder / "Cargo.lock")


def _resolved(folder: Path, crate: Crate, *, locked: bool) -> dict[str, str]:
    """Let cargo choose versions, and return cargo's data about the crate."""
    command = ["cargo", "metadata", "--format-version", "1", *(["--locked"] if locked else [])]
    packages: list[dict[str, str]] = json.loads(_run(command, folder, {}))["packages"]
    return next(package for package in packages if package["name"] == crate.name)


def _compile(folder: Path, variables: Mapping[str, str]) -> Path:
    """Compile the crate in a folder, and return its program or shared library."""
    command = ["cargo", "build", "--release", "--message-format", "json-render-diagnostics"]
    lines = [json.loads(line) for line in _run(command, folder, variables).splitlines() if line.startswith("{")]
    manifest = str((folder / "Cargo.toml").resolve())
    own = [line for line in lines if line.get("manifest_path") == manifest and "filenames" in line]
    files = [Path(file) for line in own if "custom-build" not in line["target"]["kind"] for file in line["filenames"]]
    if not files:
        raise InputError("makes no program and no library", str(folder))
    return files[-1]


def _run(command: list[str], folder: Path, variables: Mapping[str, str]) -> str:
    target = {"CARGO_TARGET_DIR": str(cache() / "cargo"), "CARGO_TERM_COLOR": "never"}
    return run_tool(command, folder, {**target, **variables}, ("Blocking", "Compiling", "Updating"))
