"""Read mahimahi link traces.

Each delivery opportunity carried one packet, because the link always had a packet waiting.
"""

import numpy as np

from ccmatic.fitting.log import NEVER, packet_log
from ccmatic.networks.trace_export import OPPORTUNITY, Opportunities

MS = 10**6

NOTE = (
    f"a link trace: each opportunity is a packet of {OPPORTUNITY} bytes, delivered in its ms, so D is off by up to 1 ms"
)


def begins(first):
    """Return whether a file with these first bytes is a link trace: the first line consists of digits."""
    return first.split(b"\n")[0].strip().isdigit()


def read_log(path, two_clocks=False):
    """Return the PacketLog of a link trace that is played once."""
    delivered = MS * np.array(Opportunities.load(path).milliseconds, np.int64)
    sent, size = np.full(len(delivered), NEVER), np.full(len(delivered), OPPORTUNITY)
    return packet_log(path, sent, delivered, size, None, two_clocks, (NOTE,))
