"""Tables as plain text."""

from collections.abc import Iterable


def aligned(rows: Iterable[Iterable[object]], left: int = 0) -> list[str]:
    """The rows of a table as lines, two spaces between columns, of which the first `left` are flush left, the others
    flush right. rows: of as many values each, shown by `str`; a header is one of them."""
    columns = [[str(cell) for cell in column] for column in zip(*rows, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    padded = [
        [cell.ljust(width) if number < left else cell.rjust(width) for cell in column]
        for number, (column, width) in enumerate(zip(columns, widths, strict=True))
    ]
    return ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]
