"""Every kind of flow by its name: the table to which another kind is added."""

from ccmatic.base import InputError, suggest
from ccmatic.emulate.exported import Bpf, Udp
from ccmatic.emulate.flows import AVAILABLE, Kernel, in_kernel

#: Those that are no congestion control of the kernel's.
KINDS = {"udp": Udp, "bpf": Bpf}


def flow(text):
    """The flow of a text KIND or KIND:ARGUMENT. Raises InputError."""
    kind, colon, argument = text.partition(":")
    if kind in KINDS:
        return KINDS[kind](argument)
    if colon:
        raise InputError(f"unknown kind of flow '{kind}' in '{text}'; known: {', '.join(KINDS)}")
    if not in_kernel(kind):
        known = [*(AVAILABLE.read_text().split() if AVAILABLE.exists() else ()), *KINDS]
        raise InputError(f"no congestion control '{kind}' in this kernel; {suggest(kind, known)}")
    return Kernel(kind)
