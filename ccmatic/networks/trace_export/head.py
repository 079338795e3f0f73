"""The common format of the emulator's files: lines `# key value`, then a table of whole numbers.

The first line names the format. Every function raises an InputError that names the mistake and its place.
"""

from ccmatic.base import InputError, exact

#: The largest number in a table, the largest number in a sender's initial state, and the range of packet sizes in
#: bytes.
LARGEST, MOST_KEPT, PACKETS = 10**15, 2**63 - 1, (576, 65535)


def text(kind, head, columns, rows):
    return "\n".join([kind, *(f"# {key} {value}" for key, value in head.items()), ",".join(columns), *rows]) + "\n"


def read_head(lines, what, kind, columns):
    """Return the values by key, the lines of the table, and the line number of the table's first line."""
    if not lines or lines[0].strip() != kind:
        raise InputError(f"expected {what}, whose first line is '{kind}'", line=1)
    head = {}
    for count, line in enumerate(lines[1:], 2):  # noqa: B007 (read below: where the head ends)
        if not line.startswith("#"):
            break
        key, _, value = line[1:].strip().partition(" ")
        head[key] = value.split()[0] if value.strip() else ""
    else:
        raise InputError(f"the {what} has no points")
    if (names := line.strip().split(",")) != columns:
        raise InputError(f"columns {','.join(names):.80}; expected {','.join(columns)}", line=count)
    return head, lines[count:], count + 1


def numbers(line, count, columns):
    try:
        row = tuple(map(int, line.split(",")))
    except ValueError:
        row = ()
    if len(row) != columns:
        words = {3: "three"}.get(columns, columns)
        raise InputError(f"found '{line:.80}'; expected {words} whole numbers", line=count)
    if max(row) > LARGEST:
        raise InputError(f"found '{line:.80}'; expected numbers of at most 10^15", line=count)
    return row


def exactly(head, key):
    """Return the rational number after a key. It must be above 0."""
    try:
        value = exact(head.get(key, ""), 30)
    except InputError as error:
        raise InputError(f"the header's {key}: {error.message}") from None
    if value <= 0:
        raise InputError(f"the header has {key} {value}; expected more than 0")
    return value


def number(head, key, least, most=LARGEST):
    digits = head.get(key, "")
    if not digits.isdecimal() or len(digits) > 16 or not least <= int(digits) <= most:
        raise InputError(f"the header has {key} '{digits:.40}'; expected a whole number, {least} to {most}")
    return int(digits)


def buffer(head):
    return None if head.get("buffer") == "infinite" else number(head, "buffer", 1)


def pairs(head, key, value, expected):
    """Return a sender's initial values by name, from the key's text NAME=NUMBER,… or `none`."""
    entry = head.get(key, "none")
    if entry == "none":
        return {}
    try:
        read = {name: value(number) for name, number in (pair.split("=") for pair in entry.split(","))}
        if all(0 <= number <= MOST_KEPT for number in read.values()):
            return read
    except (ValueError, InputError):
        pass
    raise InputError(f"the header has {key} '{entry:.80}'; expected NAME=NUMBER,… of {expected}")
