"""Parts of a packet log as the rows of arrays."""

import numpy as np

from ccmatic.contracts import Rows
from ccmatic.fitting.log import NEVER, SECOND

#: A packet with an unknown sending time counts as sent this many seconds before its part of the log. Any time before
#: all known times would be correct.
EARLY = 1e6


def rows(log, starts, ends):
    """Return the Rows of parts of a log without losses.

    A part contains the packets from its start up to, not including, its end.
    """
    length = max(ends - starts)
    place = starts[:, None] + np.arange(length)
    beyond = place >= ends[:, None]
    place = np.minimum(place, ends[:, None] - 1)
    origin = log.delivered[starts][:, None]
    dated = log.sent[place] != NEVER
    sent = np.where(dated, (log.sent[place] - origin) / SECOND, -EARLY)
    size = np.where(beyond, 0, log.size[place])
    through = np.cumsum(size, axis=1, dtype=np.float64)
    return Rows(sent, (log.delivered[place] - origin) / SECOND, through, through - size)
