"""Tables as plain text."""

from collections.abc import Iterable


def aligned(rows: Iterable[Iterable[object]], left: int = 0) -> list[str]:
    """Return the rows of a table as lines, with two spaces between columns.

    Args:
        rows: Rows of equal length, including any header; `str` converts the values.
        left: The number of leading columns that are aligned left; the other columns are aligned right.
    """
    columns = [[str(cell) for cell in column] for column in zip(*rows, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    padded = [
        [cell.ljust(width) if number < left else cell.rjust(width) for cell in column]
        for number, (column, width) in enumerate(zip(columns, widths, strict=True))
    ]
    return ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]


def counted(number: object, noun: str) -> str:
    """Return a number with its noun, such as "1 step" or "2 steps"."""
    return f"{number} {noun}{'s' * (str(number) != '1')}"
