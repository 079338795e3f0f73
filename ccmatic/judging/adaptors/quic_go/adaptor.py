"""quic-go, whole: client, server, TLS and loss detection in a bubble of virtual time (Go's testing/synctest)."""

import re
import shutil
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.judging.adaptors.golang import go_version, run_go
from ccmatic.judging.builds import built, path_library
from ccmatic.judging.subjects import Program

_MODULE = "github.com/quic-go/quic-go"

#: The least version of go, and the oldest version of quic-go, that the sources support.
_GO, _OLDEST = (1, 26), (0, 44, 0)

#: The template of unit tests, which is no source of the program.
_TEMPLATE = "regression_test.go"

#: The features that every run switches off, or uses in another way than quic-go does by default.
_NOTES = (
    "GSO, ECN and MTU discovery are off: quic-go offers them only on sockets of the kernel",
    "packets have at most 1308 bytes, quic-go's size before MTU discovery",
    "idle and handshake timeouts are a day; flow control limits no flow",
    "windows are read from private fields; `cubic` clears the private field `reno`, which quic-go's API always sets",
)


class Adaptor:
    """The adaptor of quic-go.

    Its sources support the versions from v0.44.0 on.
    """

    stack = "quic-go"
    controllers = ("reno", "cubic")
    toolchain = "go 1.26"
    version = "0.65.0"

    def versions(self) -> tuple[str, ...]:
        """Return the released versions that the adaptor supports, oldest first.

        Raises:
            InputError: If there is no go, or go cannot list the versions.
        """
        go_version(_GO)
        listed = run_go(["list", "-m", "-versions", _MODULE], Path(__file__).parent).split()[1:]
        releases = [tuple(map(int, version.split("."))) for name in listed if "-" not in (version := name[1:])]
        return tuple(".".join(map(str, release)) for release in sorted(releases) if release >= _OLDEST)

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        """Build the program; see `ccmatic.judging.subjects.Adaptor`."""
        chosen = re.fullmatch(r"v?(\d+\.\d+\.\d+(-[\w.]+)?)", version or self.version)
        if not chosen:
            raise InputError(f"{version!r} is no version of quic-go, such as {self.version}")
        checkout = _checkout(source) if source else None
        tools, library = go_version(_GO), path_library()
        pinned = chosen[1] == self.version and not checkout
        own, modules = _sources(Path(__file__).parent), [Path(__file__).parent / name for name in ("go.mod", "go.sum")]
        own.remove(Path(__file__).parent / _TEMPLATE)
        inputs: list[str | Path] = [tools, chosen[1], str(checkout), *sorted(library.iterdir()), *own, *modules]
        inputs += [*_sources(checkout), checkout / "go.mod", checkout / "go.sum"] if checkout else []

        def make(folder: Path) -> None:
            for file in (*own, *modules) if pinned else own:
                shutil.copy(file, folder)
            if not pinned:
                replaced = f"replace {_MODULE} => {checkout}\n" if checkout else ""
                needed = f"module ccmatic/judging/quic-go\n\ngo 1.26\n\nrequire {_MODULE} v{chosen[1]}\n{replaced}"
                (folder / "go.mod").write_text(needed)
            flags = {"CGO_CFLAGS": f"-O2 -I{library}", "CGO_LDFLAGS": f"-L{library}"}
            run_go(["test", "-c", "-mod", "readonly" if pinned else "mod", "-o", "adaptor", "."], folder, flags)

        program = built("quic-go", inputs, make) / "adaptor"
        release = f"quic-go {chosen[1]}" if not checkout else f"quic-go from {checkout}"
        return Program((str(program), "-test.run=TestAdaptor"), release, _NOTES)


def _sources(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.go"))


def _checkout(source: Path) -> Path:
    """Return the folder of a checkout. Raise InputError if the folder does not contain quic-go."""
    module = source / "go.mod"
    if not module.is_file() or f"module {_MODULE}\n" not in module.read_text():
        raise InputError(f"no go.mod of {_MODULE} is here", str(source))
    return source.resolve()
