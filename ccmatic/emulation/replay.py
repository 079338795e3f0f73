"""What a link decides of each packet, again, by the C that decided while it ran: so that a run's log can be checked."""

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from ccmatic.base import InputError, definitions
from ccmatic.contracts import PACKETS, load_definition, world
from ccmatic.runtime import compile_c, include_folder


def decisions(link, arrivals, sizes, flows=None):
    """Decide again what becomes of packets.

    Args:
        link: a Link.
        arrivals: when each packet came, in ns, in order.
        sizes: of each packet, in bytes.
        flows: the number of the flow of each packet; None: packets are of no flow.

    Returns:
        For each packet (whether it is lost, when its last byte is admitted, when it is to be released), in ns; the
        latter two are -1 if it is lost.
    """
    count = len(sizes)
    packets = np.empty((count, 3), np.int64)
    packets[:, 0], packets[:, 1], packets[:, 2] = arrivals, sizes, -1 if flows is None else flows
    text = f"{link.configuration(0, 0)}{count}\n" + " ".join(map(str, packets.ravel().tolist()))
    with tempfile.TemporaryDirectory(prefix="ccmatic-") as folder:
        program = Path(folder) / "replay"
        program.write_bytes(_program())
        program.chmod(0o700)
        done = subprocess.run([program], input=text, capture_output=True, text=True)
    if done.returncode:
        raise InputError(f"cannot replay the link: {done.stderr.strip()}")
    numbers = np.array(done.stdout.split(), np.int64).reshape(-1, 3).tolist()
    return [(lost == 1, admitted, planned) for lost, admitted, planned in numbers]


def link_options():
    """Return the compiler's options by which emulator.c and replay.c find the link that is emulated."""
    model = load_definition("models", "MODEL", definitions.chosen("models", "EMULATED"))
    return [f"-I{include_folder()}", f'-DLINK="{world(model, PACKETS)}"']


@cache
def _program():
    """The bytes of replay.c, compiled."""
    with tempfile.TemporaryDirectory(prefix="ccmatic-") as folder:
        built = Path(folder) / "replay"
        compile_c(["-O2", *link_options(), "-o", str(built), str(Path(__file__).with_name("replay.c"))])
        return built.read_bytes()
