"""Repeat a link's decisions with the C code that made them during the run, in order to check the run's log."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from ccmatic.base import InputError, definitions
from ccmatic.contracts import PACKETS, load_definition, world
from ccmatic.worlds.runtime import compile_c, include_folder


def decisions(link, arrivals, sizes, flows=None):
    return [decided[:3] for decided in outcomes(link, arrivals, sizes, flows)]


def outcomes(link, arrivals, sizes, flows=None):
    """Decide again which packets a link loses, and at which times it admits and releases each packet.

    Return for each packet whether it is lost, the times in ns at which its last byte is admitted and at which it is to
    be released (-1 if lost), and whether the link marks it.
    """
    count = len(sizes)
    packets = np.empty((count, 3), np.int64)
    packets[:, 0], packets[:, 1], packets[:, 2] = arrivals, sizes, -1 if flows is None else flows
    text = f"{link.configuration(0, 0)}{count}\n" + " ".join(map(str, packets.ravel().tolist()))
    with tempfile.TemporaryDirectory(prefix="ccmatic-") as folder:
        program = Path(folder) / "replay"
        program.write_bytes(_program(header(link)))
        program.chmod(0o700)
        done = subprocess.run([program], input=text, capture_output=True, text=True)
    if done.returncode:
        expected = definitions.chosen("models", "EMULATED")
        raise InputError(
            f"cannot emulate {link.model.name if link.model else 'the link'}: {done.stderr.strip()}; "
            f"expected a model whose link does, such as {expected}"
        )
    numbers = np.array(done.stdout.split(), np.int64).reshape(-1, 4).tolist()
    return [(lost == 1, admitted, planned, marked == 1) for lost, admitted, planned, marked in numbers]


def header(link):
    """Return the file packets.h that defines a link's bottleneck."""
    return world(link.model or load_definition("models", "MODEL", definitions.chosen("models", "EMULATED")), PACKETS)


def link_options(header):
    """Return the compiler options with which emulator.c and replay.c include the packets.h of the link."""
    return [f"-I{include_folder()}", f'-DLINK="{header}"']


@cache
def _program(header):
    with tempfile.TemporaryDirectory(prefix="ccmatic-") as folder:
        built = Path(folder) / "replay"
        compile_c(["-O2", *link_options(header), "-o", str(built), str(Path(__file__).with_name("replay.c"))])
        return built.read_bytes()
