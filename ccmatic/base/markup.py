"""HTML for notebooks; text is escaped."""

from html import escape


def table(header, rows):
    """A table: the header, a value a column, and rows of as many values, which are shown by `str`."""
    cells = [_row("th", header), *(_row("td", row) for row in rows)]
    return f"<table>{''.join(cells)}</table>"


def paragraphs(lines):
    """Each line as a paragraph."""
    return "".join(f"<p>{escape(str(line))}</p>" for line in lines)


def listing(text):
    """Text as it stands, with its spaces and line ends."""
    return f"<pre>{escape(text)}</pre>"


def _row(kind, values):
    return f"<tr>{''.join(f'<{kind}>{escape(str(value))}</{kind}>' for value in values)}</tr>"
