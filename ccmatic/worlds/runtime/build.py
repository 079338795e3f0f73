"""The C sources of the runtime, and the build of exported controllers in their folders, with make, cc and clang."""

import os
import shutil
import subprocess
from importlib import resources
from pathlib import Path

from ccmatic.base import InputError

#: The longest R_m in ns, and the longest step in ns. The longest step has the longest R_m and the largest jitter.
LONGEST_RTT, LONGEST_STEP = 2**34, 2**44


def shipped(name):
    return resources.files("ccmatic.worlds.runtime").joinpath(name).read_text(encoding="utf-8")


def include_folder():
    return resources.files("ccmatic.worlds.runtime")


def library_sources(export):
    """Return NAME.h and NAME.c of an exported sender with one function for each event, by file name."""
    return {
        f"{export.name}.h": export.header(),
        f"{export.name}.c": "\n".join(map(shipped, ("events.c", export.library))).replace("NAME", export.name),
    }


_HEADERS = "libbpf's headers"

#: The Debian package of each tool that ccmatic runs.
_PACKAGES = {
    "make": "make",
    "cc": "gcc",
    "clang": "clang",
    _HEADERS: "libbpf-dev",
    "ip": "iproute2",
    "iperf3": "iperf3",
}

#: The tools that build an export for each target.
UDP_TOOLS, BPF_TOOLS = ("make", "cc"), ("make", "cc", "clang", _HEADERS)


def require_tools(*tools):
    missing = [tool for tool in dict.fromkeys(tools) if not (_has_headers() if tool == _HEADERS else _path(tool))]
    if missing:
        packages = " ".join(_PACKAGES[tool] for tool in missing)
        names = [_substitute(tool) for tool in missing]
        raise InputError(f"there is no {', no '.join(names)}; on Debian, apt-get install {packages}")


def build_udp(folder):
    """Build the sender and the receiver in the folder of an export, and return their paths."""
    require_tools(*UDP_TOOLS)
    return _make(folder, "udp_sender", "udp_receiver")


def build_bpf(folder, name=None):
    """Build the BPF object and the program that registers it, and return their paths.

    The name of the controller in the kernel is by default the export's own.
    """
    require_tools(*BPF_TOOLS)
    [source] = Path(folder).glob("*.bpf.c")
    [program] = _make(folder, source.with_suffix(".o").name, *([f"TCP_NAME={name}"] if name else ()))
    return program, *_make(folder, "loader")


def _make(folder, *files):
    done = subprocess.run(["make", "-s", "-C", str(folder), *files], capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"cannot build {files[0]}: {done.stderr.strip()[:2000]}", str(folder))
    return tuple(Path(folder) / file for file in files if "=" not in file)


def _substitute(tool):
    return (os.environ.get(tool.upper()) or tool).split()[0] if tool in ("cc", "clang") else tool


def _path(tool):
    return shutil.which(_substitute(tool))


def _has_headers():
    compiler = _path("cc") or _path("clang")
    included = [word for header in ("bpf.h", "bpf_helpers.h") for word in ("-include", f"bpf/{header}")]
    try:
        done = subprocess.run([compiler or "", "-E", *included, "-x", "c", os.devnull], capture_output=True)
    except OSError:
        return False
    return done.returncode == 0
