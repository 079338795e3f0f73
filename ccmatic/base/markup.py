"""HTML for notebooks, with escaped text."""

from collections.abc import Iterable
from html import escape


def table(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """Return an HTML table with a header row and further rows of the same length; `str` converts the values."""
    cells = [_row("th", header), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(cells)}</table>"


def paragraphs(lines: Iterable[object]) -> str:
    """Return each line as a paragraph."""
    return "".join(f"<p>{escape(str(line))}</p>" for line in lines)


def listing(text: str) -> str:
    """Return preformatted text."""
    return f"<pre>{escape(text)}</pre>"


def _row(kind: str, values: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{kind}>{escape(str(value))}</{kind}>' for value in values)}</tr>"
