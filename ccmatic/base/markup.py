"""HTML for notebooks; text is escaped."""

from collections.abc import Iterable
from html import escape


def table(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A table: the header, a value a column, and rows of as many values, which are shown by `str`."""
    cells = [_row("th", header), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(cells)}</table>"


def paragraphs(lines: Iterable[object]) -> str:
    """Each line as a paragraph."""
    return "".join(f"<p>{escape(str(line))}</p>" for line in lines)


def listing(text: str) -> str:
    """Text as it stands, with its spaces and line ends."""
    return f"<pre>{escape(text)}</pre>"


def _row(kind: str, values: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(str(value))}</{kind}>' for value in values)}</tr>"
