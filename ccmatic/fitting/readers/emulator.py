"""Read the emulator's own log, the file packets.npy that `ccmatic emulate --out` writes."""

from tokenize import TokenError

import numpy as np

from ccmatic.base import InputError, Unreadable
from ccmatic.fitting.log import NEVER, SECOND, UNKNOWN, packet_log
from ccmatic.fitting.readers.csv_text import BIGGEST, LATEST

MAGIC = b"\x93NUMPY"

#: The fields that the reader uses, each with its upper limit.
FIELDS = {"arrival": LATEST * SECOND, "released": LATEST * SECOND, "size": BIGGEST, "lost": 2}

#: A further field, which old logs lack, with its upper limit. The emulator sets CE only in packets of senders that
#: support ECN. Other packets have the value WOULD_MARK, or 0.
MARKED, WOULD_MARK = {"marked": 3}, 2


def read_log(path, two_clocks=False):
    """Return the PacketLog of an array with one record per packet.

    The fields of a record are arrival, released (ns, -1 if never), size, lost and marked. The result leaves out packets
    that are in flight at the end of the run.
    """
    try:
        log = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise Unreadable(f"cannot read: {error.strerror}", path) from None
    except (ValueError, OverflowError, SyntaxError, TokenError) as error:
        raise InputError(f"not a log of `ccmatic emulate`: {error}", path) from None
    if not FIELDS.keys() <= set(log.dtype.names or ()) or log.ndim != 1:
        raise InputError("not a log of `ccmatic emulate`; expected its packets.npy", path)
    has_marks = MARKED.keys() <= set(log.dtype.names)
    _check(log, FIELDS | (MARKED if has_marks else {}), path)
    lost = log["lost"] != 0
    decided = np.flatnonzero(lost | (log["released"] >= 0))
    delivered = np.where(lost, NEVER, log["released"])[decided]
    marks = log["marked"][decided] if has_marks else None
    marked = None if marks is None else np.where(marks == WOULD_MARK, UNKNOWN, marks)
    sent, size = log["arrival"][decided], log["size"][decided]
    return packet_log(path, sent, delivered, size, decided + 1, two_clocks, marked=marked)


def _check(log, fields, path):
    for name, most in fields.items():
        if log.dtype[name].kind not in "iu" or log.dtype[name].shape:
            raise InputError(f"{name} of type {log.dtype[name]}; expected whole numbers", path)
        wrong = np.flatnonzero((log[name] < -1) | (log[name] >= most))
        if len(wrong):
            expected = f"-1, or a whole number from 0 on, below {most}"
            raise InputError(f"{name} is {log[name][wrong[0]]}; expected {expected}", path, int(wrong[0]) + 1)
