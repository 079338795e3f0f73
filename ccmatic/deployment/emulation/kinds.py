"""The table of all kinds of flows, by name. Other packages add kinds by entry points in the group `ccmatic.flows`."""

import re

from ccmatic.base import InputError, definitions, installed, shown, suggest
from ccmatic.deployment.emulation.exported import Bpf, Trained, Udp, guard
from ccmatic.deployment.emulation.flows import FlowRequest, Kernel, available, in_kernel
from ccmatic.deployment.emulation.link import SECOND, nanoseconds

#: The kinds of flows other than congestion controls of the kernel.
KINDS = {"udp": Udp, "bpf": Bpf, "guard": guard, "policy": Trained}


#: The syntax of a request: FLOW, FLOW@START or FLOW@START-STOP, optionally followed by ,rtt=R_m.
_REQUEST = re.compile(r"(?P<flow>[^@]+?)(?:@(?P<start>[^@,-]+)(?:-(?P<stop>[^@,-]+))?)?(?:,rtt=(?P<rtt>[^@,]+))?")


def timetable(texts, seconds):
    """Return the FlowRequests of texts for a run of this many seconds."""
    flows = [request(text) for text in texts]
    for flow in flows:
        if max(flow.start + 1, flow.stop or 0) > seconds * SECOND:
            raise InputError(f"the flow '{flow.name}' lasts longer than the run of {seconds:g} s")
    if flows and min(flow.start for flow in flows) > 0:
        raise InputError("no flow starts at 0 s; expected one that sends the first packet")
    return flows


def with_competitors(texts, named):
    """Return the requests of a run in which the first flow competes with those that expectations name after `beside`.

    A single flow gets the named flow as its competitor. Several flows stay as they are.
    """
    if len(texts) == 1 and len(named) == 1:
        return [*texts, *named]
    others = [re.split("@|,rtt=", text)[0] for text in texts[1:]]
    missing = [name for name in named if name not in others]
    if missing:
        message = f"an expectation compares {shown(texts[0])} with {shown(missing[0])}, but the flows are"
        wanted = f"--flow {shown(missing[0])} as well, after the first flow"
        raise InputError(f"{message} {', '.join(map(shown, texts))}; expected {wanted}")
    return list(texts)


def request(text):
    """Return the FlowRequest of a text such as `cubic`, `cubic@10s-30s` or `udp:cc_qdel@10s,rtt=80ms`."""
    match = _REQUEST.fullmatch(text)
    if not match:
        raise InputError(f"cannot read the flow '{text}'; expected such as cubic, cubic@10s-30s or cubic@10s,rtt=80ms")
    start = nanoseconds(match["start"] or "0s", f"the start of flow '{text}':", least=0)
    stop, rtt = (match[part] and nanoseconds(match[part], f"{part} of flow '{text}':") for part in ("stop", "rtt"))
    if stop is not None and stop <= start:
        raise InputError(f"the flow '{text}' stops before it starts; expected a later stop")
    return FlowRequest(text, flow(match["flow"]), start, stop, rtt)


def flow(text):
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
    raise InputError(f"no congestion control '{kind}' in this kernel; {suggest(kind, [*available(), *KINDS, *added])}")


def is_flow(text):
    return text.partition(":")[0] in KINDS or (not definitions.is_controller(text) and in_kernel(text))
