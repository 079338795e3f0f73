"""Tables, counts and verdicts as text, and HTML for notebooks, with escaped text."""

import os
import sys
from collections.abc import Iterable
from html import escape

#: The symbol and the colour that stand for each verdict.
STYLES = {"holds": ("✓", "green"), "violated": ("✗", "red"), "unknown": ("?", "yellow")}


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


def shown_verdict(word: str, verdict: str | None = None, width: int = 0) -> str:
    """Return a verdict as a word of some width, with a symbol and a colour on a terminal.

    `verdict` is what the word means: `holds`, `violated` or `unknown`; by default the word itself.
    """
    text = f"{word:<{width}}"
    if not _has_styles():
        return text
    from click import style  # imported here, because few users of this module print verdicts

    symbol, colour = STYLES[verdict or word]
    return style(f"{symbol} {text}", fg=colour)


def _has_styles() -> bool:
    """Return whether standard output is a terminal that can print the symbols, with colours not disabled."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty():
        return False
    return "utf" in (sys.stdout.encoding or "").lower()
