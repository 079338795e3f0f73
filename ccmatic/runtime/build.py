"""Exports built where they were written: by make, cc and clang."""

import os
import shutil
import subprocess
from pathlib import Path

from ccmatic.base import InputError

_PACKAGES = {"make": "make", "cc": "gcc", "clang": "clang"}


def build_udp(folder):
    """The paths of the sender and the receiver, built in the folder of an export. Raises InputError."""
    return _make(folder, "cc", "udp_sender", "udp_receiver")


def build_bpf(folder, name=None):
    """The paths of the BPF object and of the program that registers it, built in the folder of an export. name: in the
    kernel, if it is to be another. Raises InputError."""
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
    """The path of a tool, which may be a stand-in of this kind. Raises InputError."""
    path = shutil.which(tool)
    if not path:
        raise InputError(f"there is no {tool}; on Debian, apt-get install {_PACKAGES[kind or tool]}")
    return path
