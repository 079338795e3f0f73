"""Every kind of flow by its name: a table, to which other packages add as entry points in the group `ccmatic.flows`."""

from ccmatic.base import InputError, definitions, installed, suggest
from ccmatic.emulate.exported import Bpf, Udp
from ccmatic.emulate.flows import AVAILABLE, Kernel, in_kernel

#: Those that are no congestion control of the kernel's.
KINDS = {"udp": Udp, "bpf": Bpf}


def flow(text):
    """The flow of a text KIND or KIND:ARGUMENT. Raises InputError."""
    kind, colon, argument = text.partition(":")
    if kind in KINDS:
        return KINDS[kind](argument)
    if not colon and in_kernel(kind):
        return Kernel(kind)
    added = installed.points("flows", KINDS)
    if kind in added:
        return installed.load(added[kind])(argument)
    if colon:
        raise InputError(f"unknown kind of flow '{kind}' in '{text}'; known: {', '.join([*KINDS, *added])}")
    if definitions.is_controller(text):
        raise InputError(f"'{text}' is a controller, not a flow; did you mean 'udp:{text}' or 'bpf:{text}'?")
    known = [*(AVAILABLE.read_text().split() if AVAILABLE.exists() else ()), *KINDS, *added]
    raise InputError(f"no congestion control '{kind}' in this kernel; {suggest(kind, known)}")


def is_flow(text):
    """Whether a flow is meant, rather than a controller."""
    return text.partition(":")[0] in KINDS or (not definitions.is_controller(text) and in_kernel(text))
