"""Exports built where they were written, and registered with the kernel: by make, cc, clang and bpftool."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.codegen.targets import kernel_name

_BTF = Path("/sys/kernel/btf/vmlinux")
_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
_PACKAGES = {"make": "make", "cc": "gcc", "clang": "clang", "bpftool": "bpftool"}


def build_udp(folder):
    """The paths of the sender and the receiver, built in the folder of an export. Raises InputError."""
    return _make(folder, "cc", "udp_sender", "udp_receiver")


def build_bpf(folder):
    """The path of the BPF object, built in the folder of an export. Raises InputError."""
    [source] = Path(folder).glob("*.bpf.c")
    [program] = _make(folder, "clang", source.with_suffix(".o").name)
    return program


def register(program):
    """Register a BPF object as a congestion control, in place of one left behind: its name in the kernel.

    Raises InputError where that needs root or BTF, or the kernel refuses.
    """
    name = kernel_name(Path(program).name.removesuffix(".bpf.o"))
    if not _BTF.exists():
        raise InputError("this kernel has no BTF; expected one built with CONFIG_DEBUG_INFO_BTF")
    if name in registered():
        unregister(name)
    said = _bpftool("register", program)
    if name not in registered():
        raise InputError(f"the kernel refused {name}: {said}", str(program))
    return name


def unregister(name):
    """Take a congestion control out of the kernel; connections that use it keep it to their end. Raises InputError."""
    said = _bpftool("unregister", "name", name)
    # One that connections still use is on its way out: bpftool complains of it, even where it succeeds with another.
    if name in registered():
        raise InputError(f"the kernel keeps {name}: {said}")


def registered():
    """The names of the congestion controls that the kernel has."""
    return _AVAILABLE.read_text().split()


def _make(folder, compiler, *files):
    _require(os.environ.get(compiler.upper(), compiler).split()[0], compiler)
    done = _run([_require("make"), "-s", "-C", str(folder), *files])
    if done.returncode:
        raise InputError(f"cannot build {files[0]}: {done.stderr.strip()[:2000]}", str(folder))
    return tuple(Path(folder) / file for file in files)


def _bpftool(*arguments):
    """What it complains of."""
    if os.geteuid():
        raise InputError("a congestion control is registered by root; expected to run as root")
    done = _run([_require("bpftool"), "struct_ops", *map(str, arguments)])
    # The verifier's reason stands before its statistics; the rest are the instructions that led there.
    said = [line for line in done.stderr.splitlines() if not re.match(r"libbpf:|processed |\d+: |;|-- ", line)]
    return " ".join(said[-2:]) or done.stderr.strip()[-500:]


def _run(command):
    return subprocess.run(command, capture_output=True, text=True)


def _require(tool, kind=None):
    """The path of a tool, which may be a stand-in of this kind. Raises InputError."""
    found = shutil.which(tool, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
    if not found:
        raise InputError(f"there is no {tool}; on Debian, apt-get install {_PACKAGES[kind or tool]}")
    return found
