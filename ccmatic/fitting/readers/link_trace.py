"""Link traces of mahimahi: what got through a link on which something always waited, a packet an opportunity."""

import numpy as np

from ccmatic.fitting.log import NEVER, packet_log
from ccmatic.trace_export import OPPORTUNITY, Opportunities

MS = 10**6

NOTE = (
    f"a link trace: each opportunity is a packet of {OPPORTUNITY} bytes, delivered in its ms, so D is off by up to 1 ms"
)


def begins(first):
    """Whether a file with these first bytes is one: its first line is digits."""
    return first.split(b"\n")[0].strip().isdigit()


def read_log(path, two_clocks=False):
    """The PacketLog of a link trace, once through. Raises InputError."""
    delivered = MS * np.array(Opportunities.load(path).milliseconds, np.int64)
    sent, size = np.full(len(delivered), NEVER), np.full(len(delivered), OPPORTUNITY)
    return packet_log(path, sent, delivered, size, None, two_clocks, (NOTE,))
