"""Read packet logs that are tables: in CSV, or the file packets.npy that `ccmatic emulate --out` writes.

In CSV, the header line is `sent,delivered,size`. Each further line describes a packet. The first value is the sending
time in seconds. The second value is the delivery time in seconds, or empty if the packet was lost. The third value is
the size in bytes. The header line `sent,delivered,size,marked` adds a fourth value. It is 1 if the packet was delivered
with the mark CE, 0 if it was delivered without, and empty if this is unknown.
"""

import warnings
from contextlib import suppress
from decimal import Decimal
from tokenize import TokenError

import numpy as np

from ccmatic.base import InputError, Unreadable, read_text, shown
from ccmatic.fitting.log import NEVER, SECOND, UNKNOWN, packet_log

HEADER = "sent,delivered,size"
WITH_MARKS = f"{HEADER},marked"

#: Three limits: the bytes of a log, the seconds of an instant (large enough for clocks that count from 1970), and the
#: bytes of a packet. Beyond these limits, nanoseconds or a sum of bytes would overflow.
LARGEST, LATEST, BIGGEST = 2**32, 2**32, 2**24

#: The value that stands for an empty cell.
NOTHING = -1e15


def read_csv(path, two_clocks=False):
    """Return the PacketLog of a CSV file. An empty `sent` marks a packet that already waited when the log began."""
    text = read_text(path, LARGEST)
    head, _, body = text.partition("\n")
    names = head.strip().replace(" ", "")
    if names not in (HEADER, WITH_MARKS):
        raise InputError(f"the header is '{shown(head)}'; expected '{HEADER}' or '{WITH_MARKS}'", path, 1)
    sent, delivered, size, *marks = _columns(body, path, names)
    marked = np.where(marks[0] == NOTHING, UNKNOWN, marks[0]) if marks else None
    return packet_log(path, sent, delivered, size, np.arange(2, len(sent) + 2), two_clocks, marked=marked)


def _columns(body, path, names):
    """Return the columns: instants in whole ns, then sizes and marks as floats. `names` is the header line.

    An instant without a value is NEVER, a mark without a value is NOTHING.
    """
    body, width = body.rstrip("\n") + "\n", names.count(",") + 1
    filled = f"\n{body}".replace(",,", f",{NOTHING},").replace("\n,", f"\n{NOTHING},")[1:]
    if names == WITH_MARKS:
        filled = filled.replace(",\n", f",{NOTHING}\n")
    characters = np.frombuffer(filled.encode(), np.uint8)
    separators = characters[(characters == ord(",")) | (characters == ord("\n"))]
    rows = len(separators) // width
    if body == "\n":
        raise InputError("no packets; expected one per line", path, 2)
    if not np.array_equal(separators, np.tile(np.frombuffer(b"," * (width - 1) + b"\n", np.uint8), rows)):
        raise _first_fault(body, path, names)
    filled = filled.replace("\n", ",")
    # NumPy's versions differ on a cell that is no number. A Decimal refuses an exponent of 19 digits.
    with warnings.catch_warnings(), suppress(ValueError, ArithmeticError):
        warnings.simplefilter("ignore", DeprecationWarning)
        numbers = np.fromstring(filled, sep=",")
        if len(numbers) == width * rows and _sane(numbers.reshape(rows, width)):
            cells = filled.split(",")[:-1]
            return _ns(cells[0::width]), _ns(cells[1::width]), *numbers.reshape(rows, width).T[2:]
    raise _first_fault(body, path, names)


def _sane(table):
    instants, size, marks = table[:, :2], table[:, 2], table[:, 3:]
    plausible = (np.abs(instants) < LATEST) | (instants == NOTHING)
    whole = (np.abs(size) < BIGGEST) & (size == np.floor(size))
    return bool(plausible.all() and whole.all() and np.isin(marks, (0, 1, NOTHING)).all())


def _first_fault(body, path, names):
    """Return the InputError for the first line that does not describe a packet."""
    for number, row in enumerate(body.rstrip("\n").split("\n"), 2):
        cells = row.split(",")
        if len(cells) != names.count(",") + 1:
            return InputError(f"'{shown(row)}'; expected {names}", path, number)
        if cells[3:] and cells[3].strip() not in ("", "0", "1"):
            return InputError(f"marked is '{shown(cells[3])}'; expected 0, 1, or nothing", path, number)
        for name, cell, most in zip(HEADER.split(","), cells[:3], (LATEST, LATEST, BIGGEST), strict=True):
            if not _number(cell, name == "size", most):
                what = "whole bytes" if name == "size" else "seconds, or nothing"
                return InputError(f"{name} is '{shown(cell)}'; expected {what}, below {most}", path, number)
    return InputError(f"no table of {names}", path)


def _number(cell, whole, most):
    if not cell.strip():
        return not whole
    try:
        value = Decimal(cell.replace("_", "?"))  # Python reads 1_000, but CSV has no such numbers
        return abs(value) < most and (not whole or value == int(value))
    except ArithmeticError:
        return False


def _ns(cells):
    """Return exact instants of seconds in text. A float of seconds since 1970 would lose hundreds of ns."""
    return np.array([NEVER if cell == str(NOTHING) else round(Decimal(cell).scaleb(9)) for cell in cells], np.int64)


# ---- the emulator's log ----

MAGIC = b"\x93NUMPY"

#: The fields that the reader uses, each with its upper limit.
FIELDS = {"arrival": LATEST * SECOND, "released": LATEST * SECOND, "size": BIGGEST, "lost": 2}

#: A further field, which old logs lack, with its upper limit. The emulator sets CE only in packets of senders that
#: support ECN. Other packets have the value WOULD_MARK, or 0.
MARKED, WOULD_MARK = {"marked": 3}, 2


def read_array(path, two_clocks=False):
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
