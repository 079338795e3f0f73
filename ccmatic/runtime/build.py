"""Build exported controllers in their folders, with make, cc and clang."""

import os
import shutil
import subprocess
from pathlib import Path

from ccmatic.base import InputError

_PACKAGES = {"make": "make", "cc": "gcc", "clang": "clang"}


def build_udp(folder):
    """Build the sender and the receiver in the folder of an export, and return their paths.

    Raises:
        InputError: If a tool is missing, or if the build fails.
    """
    return _make(folder, "cc", "udp_sender", "udp_receiver")


def build_bpf(folder, name=None):
    """Build the BPF object and the program that registers it in the folder of an export, and return their paths.

    Args:
        folder: The folder of the export.
        name: The name of the controller in the kernel; None stands for the export's own name.

    Raises:
        InputError: If a tool is missing, or the build fails.
    """
    [source] = Path(folder).glob("*.bpf.c")
    [program] = _make(folder, "clang", source.with_suffix(".o").name, *([f"TCP_NAME={name}"] if name else ()))
    return program, *_make(folder, "cc", "loader")


def _make(folder, compiler, *files):
    _require(os.environ.get(compiler.upper(), compiler).split()[0], compiler)
    done = subprocess.run([_require("make"), "-s", "-C", str(folder), *files], capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"cannot build {files[0]}: {done.stderr.strip()[:2000]}", str(folder))
    return tuple(Path(folder) / file for file in files if "=" not in file)


def _require(tool, kind=None):
    """Return the path of a tool, or of a substitute for it. Raise InputError if neither exists."""
    path = shutil.which(tool)
    if not path:
        raise InputError(f"there is no {tool}; on Debian, apt-get install {_PACKAGES[kind or tool]}")
    return path
