"""Send real traffic over an emulated link.

The emulation joins two network namespaces: one for senders and one for receivers. The program emulator.c owns a TUN
device in each namespace. Packets towards the receivers pass three stages:

1. a drop-tail bottleneck;
2. a box that holds packets, in order, for the jitter;
3. the whole propagation delay R_m.

Packets towards the senders (acknowledgements) pass at once: they are never lost and never wait. So the whole
propagation delay comes after the bottleneck. The round trip of a packet is the time from its arrival to its release in
the log.

Time 0 is the arrival of the first packet. A packet arrives when the program reads it from a TUN device. Integer
arithmetic computes the link's decisions from the arrival times and the sizes. After each run, the emulation computes
the decisions again from the log. A run is valid if

- the repeated decisions are the same as the decisions during the run;
- the machine dropped no packet by itself;
- 99 % of the packets were released within a millisecond of the plan, where each packet of a batch that is due at one
  instant may be 5 µs later than the previous packet;
- the smallest D that explains the run is at most R_m + D;
- every logged belief of a sender was true of the link.

Bytes are always bytes of IP packets, with headers and without link-layer framing. This rule applies to rates, buffers,
positions in a schedule, and utilisation.
"""

from ccmatic.deployment.emulation.flows import Commands, FlowRequest
from ccmatic.deployment.emulation.kinds import is_flow, request
from ccmatic.deployment.emulation.link import MTU, OWN, SECOND, Link, LinkChange, of_texts
from ccmatic.deployment.emulation.machine import require
from ccmatic.deployment.emulation.measures import as_text, summed_up, warm_up
from ccmatic.deployment.emulation.monitor import Monitor
from ccmatic.deployment.emulation.pipeline import emulate
from ccmatic.deployment.emulation.run import RECORD, Emulation, run_flows, started

__all__ = [
    "MTU",
    "OWN",
    "RECORD",
    "SECOND",
    "Commands",
    "Emulation",
    "FlowRequest",
    "Link",
    "LinkChange",
    "Monitor",
    "as_text",
    "emulate",
    "is_flow",
    "of_texts",
    "request",
    "require",
    "run_flows",
    "started",
    "summed_up",
    "warm_up",
]
