"""Read the emulator's own log, the file packets.npy that `ccmatic emulate --out` writes."""

from tokenize import TokenError

import numpy as np

from ccmatic.base import InputError, Unreadable
from ccmatic.fitting.log import NEVER, SECOND, packet_log
from ccmatic.fitting.readers.csv_text import BIGGEST, LATEST

MAGIC = b"\x93NUMPY"

#: The fields that the reader uses, each with its upper limit.
FIELDS = {"arrival": LATEST * SECOND, "released": LATEST * SECOND, "size": BIGGEST, "lost": 2}


def read_log(path, two_clocks=False):
    """Return the PacketLog of an array with one record per packet.

    The fields of a record are arrival, released (ns, -1 if never), size and lost. The result leaves out packets that
    are in flight at the end of the run.

    Args:
        path: The file.
        two_clocks: Whether sender and receiver have separate clocks.

    Raises:
        InputError: If the file has no such array.
    """
    try:
        log = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise Unreadable(f"cannot read: {error.strerror}", path) from None
    except (ValueError, OverflowError, SyntaxError, TokenError) as error:
        raise InputError(f"not a log of `ccmatic emulate`: {error}", path) from None
    if not FIELDS.keys() <= set(log.dtype.names or ()) or log.ndim != 1:
        raise InputError("not a log of `ccmatic emulate`; expected its packets.npy", path)
    _check(log, path)
    lost = log["lost"] != 0
    decided = np.flatnonzero(lost | (log["released"] >= 0))
    delivered = np.where(lost, NEVER, log["released"])[decided]
    return packet_log(path, log["arrival"][decided], delivered, log["size"][decided], decided + 1, two_clocks)


def _check(log, path):
    for name, most in FIELDS.items():
        if log.dtype[name].kind not in "iu" or log.dtype[name].shape:
            raise InputError(f"{name} of type {log.dtype[name]}; expected whole numbers", path)
        wrong = np.flatnonzero((log[name] < -1) | (log[name] >= most))
        if len(wrong):
            expected = f"-1, or a whole number from 0 on, below {most}"
            raise InputError(f"{name} is {log[name][wrong[0]]}; expected {expected}", path, int(wrong[0]) + 1)
