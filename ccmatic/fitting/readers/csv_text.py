"""Read packet logs in CSV.

The header line is `sent,delivered,size`. Each further line describes a packet. The first value is the sending time in
seconds. The second value is the delivery time in seconds, or empty if the packet was lost. The third value is the size
in bytes.
"""

import warnings
from contextlib import suppress

import numpy as np

from ccmatic.base import InputError, read_text, shown
from ccmatic.fitting.log import NEVER, SECOND, packet_log

HEADER = "sent,delivered,size"

#: Three limits: the bytes of a log, the seconds of an instant (large enough for clocks that count from 1970), and the
#: bytes of a packet. Beyond these limits, nanoseconds or a sum of bytes would overflow.
LARGEST, LATEST, BIGGEST = 2**32, 2**32, 2**24

#: The value that stands for an empty cell.
NOTHING = -1e15


def read_log(path, two_clocks=False):
    """Return the PacketLog of a CSV file. An empty `sent` marks a packet that already waited when the log began.

    Args:
        path: The file.
        two_clocks: Whether sender and receiver have separate clocks.

    Raises:
        InputError: If the file has another format, or if no path can leave such a log.
    """
    text = read_text(path, LARGEST)
    head, _, body = text.partition("\n")
    if head.strip().replace(" ", "") != HEADER:
        raise InputError(f"the header is '{shown(head)}'; expected '{HEADER}'", path, 1)
    sent, delivered, size = _columns(body, path)
    return packet_log(path, _ns(sent), _ns(delivered), size, np.arange(2, len(sent) + 2), two_clocks)


def _columns(body, path):
    """Return the columns sent, delivered and size as floats; NOTHING stands for an empty cell."""
    body = body.rstrip("\n") + "\n"
    filled = f"\n{body}".replace(",,", f",{NOTHING},").replace("\n,", f"\n{NOTHING},")[1:]
    characters = np.frombuffer(filled.encode(), np.uint8)
    separators = characters[(characters == ord(",")) | (characters == ord("\n"))]
    rows = len(separators) // 3
    if body == "\n":
        raise InputError("no packets; expected one per line", path, 2)
    if not np.array_equal(separators, np.tile(np.frombuffer(b",,\n", np.uint8), rows)):
        raise _first_fault(body, path)
    with warnings.catch_warnings(), suppress(ValueError):  # NumPy's versions differ on a cell that is no number
        warnings.simplefilter("ignore", DeprecationWarning)
        numbers = np.fromstring(filled.replace("\n", ","), sep=",")
        if len(numbers) == 3 * rows and _sane(numbers.reshape(rows, 3)):
            return numbers.reshape(rows, 3).T
    raise _first_fault(body, path)


def _sane(table):
    instants, size = table[:, :2], table[:, 2]
    plausible = (np.abs(instants) < LATEST) | (instants == NOTHING)
    return bool(plausible.all() and ((np.abs(size) < BIGGEST) & (size == np.floor(size))).all())


def _first_fault(body, path):
    """Return the InputError for the first line that does not describe a packet."""
    for number, row in enumerate(body.rstrip("\n").split("\n"), 2):
        cells = row.split(",")
        if len(cells) != 3:
            return InputError(f"'{shown(row)}'; expected {HEADER}", path, number)
        for name, cell, most in zip(HEADER.split(","), cells, (LATEST, LATEST, BIGGEST), strict=True):
            if not _number(cell, name == "size", most):
                what = "whole bytes" if name == "size" else "seconds, or nothing"
                return InputError(f"{name} is '{shown(cell)}'; expected {what}, below {most}", path, number)
    return InputError(f"no table of {HEADER}", path)


def _number(cell, whole, most):
    if not cell.strip():
        return not whole
    try:
        value = float(cell.replace("_", "?"))  # Python reads 1_000, but CSV has no such numbers
    except ValueError:
        return False
    return abs(value) < most and (not whole or value == int(value))


def _ns(seconds):
    return np.where(seconds == NOTHING, NEVER, np.rint(seconds * SECOND)).astype(np.int64)
