"""Real traffic over an emulated link.

Two network namespaces, one of senders and one of receivers, are joined by a program (emulator.c) that owns a TUN device
in each. Packets towards the receivers pass a drop-tail bottleneck, then a box that holds them, in order, for jitter,
then the whole of the propagation delay R_m. Packets towards the senders (acknowledgements) are passed on at once: they
are never lost and never wait. So R_m is all after the bottleneck, and a round trip is what the log says of a packet:
from arrival to release.

Time 0 is when the first packet arrives. A packet arrives when the program reads it from its device; what the link
decides of it follows from these instants and sizes in integer arithmetic, and is computed again, from the log, after
each run. A run is valid if it replays, if the machine dropped nothing by itself, if packets were released in time (of
all 99 % within a millisecond of the plan, where packets that are due together may take 5 µs each), if the least D of
what happened is at most R_m + D, and if no sender that logs its beliefs believed what was false of the link.

Bytes are those of IP packets, headers included and no link-layer framing, throughout: rates, buffers, positions in a
schedule, utilisation.
"""

from ccmatic.emulation.flows import Commands, FlowRequest
from ccmatic.emulation.kinds import is_flow, request
from ccmatic.emulation.link import MTU, SECOND, Link, of_texts
from ccmatic.emulation.machine import require
from ccmatic.emulation.measures import as_text, summed_up, warm_up
from ccmatic.emulation.pipeline import measure_flows
from ccmatic.emulation.run import RECORD, Emulation, emulate, started

__all__ = [
    "MTU",
    "RECORD",
    "SECOND",
    "Commands",
    "Emulation",
    "FlowRequest",
    "Link",
    "as_text",
    "emulate",
    "is_flow",
    "measure_flows",
    "of_texts",
    "request",
    "require",
    "started",
    "summed_up",
    "warm_up",
]
