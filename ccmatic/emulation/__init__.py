"""Send real traffic over an emulated link.

The emulation joins two network namespaces, one of senders and one of receivers. A program (emulator.c) owns a TUN
device in each. Packets towards the receivers pass three stages:

1. a drop-tail bottleneck;
2. a box that holds them, in order, for the jitter;
3. the whole propagation delay R_m.

Packets towards the senders (acknowledgements) pass at once: they are never lost and never wait. So all of R_m comes
after the bottleneck, and a packet's round trip is the log's time from its arrival to its release.

Time 0 is the arrival of the first packet. A packet arrives when the program reads it from its device. The link's
decisions follow from these instants and the sizes in integer arithmetic. They are computed again from the log after
each run. A run is valid if

- it replays;
- the machine itself dropped no packet;
- packets were released in time: 99 % of them within a millisecond of the plan, not counting 5 µs for each of the
  packets that are due together;
- the smallest D that explains the packet log is at most R_m + D;
- every logged belief of a sender was true of the link.

Bytes are those of IP packets throughout, with headers and without link-layer framing: in rates, buffers, positions in a
schedule, and utilisation.
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
