"""ngtcp2, whole: client, server, TLS of GnuTLS and loss detection. The library takes each instant as an argument."""

import os
import shutil
import subprocess
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.judging.builds import built, path_library
from ccmatic.judging.subjects import Program
from ccmatic.worlds.runtime import compile_c

_PACKAGES = ("libngtcp2", "libngtcp2_crypto_gnutls", "gnutls")

_NOTES = (
    "MTU discovery is off; packets have the size of the scenario's largest packet",
    "no idle timeout and no handshake timeout; flow control limits no flow",
)


class Adaptor:
    """The adaptor of ngtcp2.

    It drives the library that pkg-config finds, or the one that is installed in the folder `source`. Its sources
    support 0.12 and 1.x, which has no `bbr2`: its `bbr` is BBR's later version.
    """

    stack = "ngtcp2"
    controllers = ("cubic", "reno", "bbr", "bbr2")
    toolchain = "cc, pkg-config, libngtcp2-dev 0.12 or 1.x"
    version = "0.12"

    def build(self, version: str | None = None, source: Path | None = None) -> Program:
        if version:
            raise InputError("judge cannot fetch a version of ngtcp2; --source names the folder where one is installed")
        places = [file.parent for file in sorted(source.glob("lib*/**/libngtcp2.pc"))] if source else None
        if places == []:
            raise InputError("no libngtcp2.pc is in lib/pkgconfig; expected the folder of an installation", str(source))
        installed = _ask(places, "--modversion", "libngtcp2")
        flags, libraries = (
            _ask(places, "--cflags", "--libs", *_PACKAGES),
            _ask(places, "--variable=libdir", "libngtcp2"),
        )
        library = path_library()
        sources = sorted(Path(__file__).parent.glob("*.[ch]"))

        def make(folder: Path) -> None:
            files = [str(file) for file in sources if file.suffix == ".c"]
            own = ["-std=gnu99", "-O2", f"-I{library}", "-o", str(folder / "adaptor"), *files]
            found = f"-Wl,-rpath,{libraries}" if source else "-Wl,--as-needed"
            compile_c([*own, found, f"-L{library}", "-lccmatic_path", "-ldl", *flags.split()])

        inputs = [*sorted(library.iterdir()), *sources, *sorted(Path(libraries).glob("libngtcp2*.[as]*"))]
        program = built("ngtcp2", [installed, flags, str(source), *inputs], make) / "adaptor"
        return Program((str(program),), f"ngtcp2 {installed}", _NOTES)


def _ask(places: list[Path] | None, *arguments: str) -> str:
    """Return the answer of pkg-config, which looks in some folders first."""
    if not shutil.which("pkg-config"):
        raise InputError("there is no pkg-config, which finds ngtcp2; on Debian, apt-get install pkg-config")
    variables = os.environ | ({"PKG_CONFIG_PATH": ":".join(map(str, places))} if places else {})
    done = subprocess.run(["pkg-config", *arguments], env=variables, capture_output=True, text=True, check=False)
    if done.returncode:
        needed = "libngtcp2-dev libngtcp2-crypto-gnutls-dev libgnutls28-dev"
        raise InputError(f"there is no ngtcp2 with GnuTLS; on Debian, apt-get install {needed}")
    return done.stdout.strip()
