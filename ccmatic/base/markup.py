"""Tables and counts as plain text, and HTML for notebooks, with escaped text."""

from collections.abc import Iterable
from html import escape


def table(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    cells = [_row("th", header), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(cells)}</table>"


def paragraphs(lines: Iterable[object]) -> str:
    return "".join(f"<p>{escape(str(line))}</p>" for line in lines)


def listing(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def _row(kind: str, values: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(str(value))}</{kind}>' for value in values)}</tr>"


def aligned(rows: Iterable[Iterable[object]], left: int = 0) -> list[str]:
    """Return the rows of a table as lines. The first `left` columns are aligned left, and all others right."""
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
