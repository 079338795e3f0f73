"""Stretches of a log side by side."""

import numpy as np

from ccmatic.contracts import Rows
from ccmatic.fitting.log import NEVER, SECOND

#: Seconds before its stretch at which a packet is taken to have been sent of which that is not known: any time before
#: all that is known will do.
EARLY = 1e6


def rows(log, starts, ends):
    """The Rows of stretches of the packets of a log, none of which is lost: from each start up to its end, left out."""
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
