"""The files that the emulator reads: lines `# key value`, the first of which says the format; then a table of whole
numbers. Everything raises InputError that says what is wrong, and where."""

from ccmatic.base import InputError, exact

#: The largest number in a table, and of what a sender begins with; of bytes in a packet the least and the most.
LARGEST, MOST_KEPT, PACKETS = 10**15, 2**63 - 1, (576, 65535)


def text(kind, head, columns, rows):
    """A file's text: its first line, a dict, the names of columns, and rows as text."""
    return "\n".join([kind, *(f"# {key} {value}" for key, value in head.items()), ",".join(columns), *rows]) + "\n"


def read_head(lines, what, kind, columns):
    """(values by key, the lines of the table, the number of the first of them)."""
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
    """Those of a line of the table, of whose number it is."""
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
    """The rational above 0 of a key."""
    try:
        value = exact(head.get(key, ""), 30)
    except InputError as error:
        raise InputError(f"the header's {key}: {error.message}") from None
    if value <= 0:
        raise InputError(f"the header has {key} {value}; expected more than 0")
    return value


def number(head, key, least, most=LARGEST):
    """The whole number of a key."""
    digits = head.get(key, "")
    if not digits.isdecimal() or len(digits) > 16 or not least <= int(digits) <= most:
        raise InputError(f"the header has {key} '{digits:.40}'; expected a whole number, {least} to {most}")
    return int(digits)


def buffer(head):
    """Bytes; None if it is infinite."""
    return None if head.get("buffer") == "infinite" else number(head, "buffer", 1)


def pairs(head, key, value, expected):
    """What a sender begins with, by name: a key has it as NAME=NUMBER,…, or none. value: what makes a number of its
    text. expected: which numbers, in words."""
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
