"""The emulator's own log: packets.npy, of `ccmatic emulate --out`."""

import numpy as np

from ccmatic.base import InputError, Unreadable
from ccmatic.fitting.log import NEVER, packet_log

MAGIC = b"\x93NUMPY"


def read(path, two_clocks=False):
    """The PacketLog of an array of packets with the fields arrival, released (ns, -1 if never), size and lost. What the
    run's end found on its way is left out. Raises InputError."""
    try:
        log = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise Unreadable(f"cannot read: {error.strerror}", path) from None
    except ValueError as error:
        raise InputError(f"not a log of `ccmatic emulate`: {error}", path) from None
    if not {"arrival", "released", "size", "lost"} <= set(log.dtype.names or ()) or log.ndim != 1:
        raise InputError("not a log of `ccmatic emulate`; expected its packets.npy", path)
    lost = log["lost"] != 0
    decided = np.flatnonzero(lost | (log["released"] >= 0))
    delivered = np.where(lost, NEVER, log["released"])[decided]
    return packet_log(path, log["arrival"][decided], delivered, log["size"][decided], decided + 1, two_clocks)
