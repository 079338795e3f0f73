"""A hook of MkDocs that turns blocks marked `math` into MathML, which browsers show without a script.

Each line is an equation in LaTeX. Signs such as ≤ may replace their commands, and words of two or more letters are
upright. Two or more spaces begin a new column, except beside =, →, ↔, `and` and `or`. A name at the end of a line, such
as `served_after_sent`, is the name of the law. In running text, dollars enclose an equation.
"""

import re
from html import escape

from latex2mathml.converter import convert
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor

SIGNS = {
    "≤": r"\le", "≥": r"\ge", "→": r"\rightarrow", "↔": r"\leftrightarrow", "·": r"\cdot", "…": r"\dots",
    "⌊": r"\lfloor", "⌋": r"\rfloor", "∈": r"\in", "±": r"\pm", "|": r"\vert",
}  # fmt: skip

LAW = re.compile(r"[A-Za-z]\w*_\w{2,}")

#: Operators whose surrounding spaces only align; they begin no column.
AROUND = re.compile(r" *(=|→|↔|\band\b|\bor\b) *")

#: The parts of an equation: an index, a command with its text, or a word with the spaces around it.
PART = re.compile(r"_(?P<index>\w+)|\\text\w*\{[^}]*\}|\\\w+|(?P<word> ?\b[^\W\d_]{2,}\b ?)")

#: Words that name functions, after which LaTeX sets the space.
FUNCTIONS = {"min": r"\min ", "max": r"\max "}


def on_config(config):
    """Register this module as the reader of blocks marked `math`."""
    fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])
    fences.append({"name": "math", "class": "equations", "format": block})
    config.markdown_extensions.append(Inline())


class Inline(Extension):
    """The extension for equations in running text."""

    def extendMarkdown(self, md):
        md.inlinePatterns.register(Dollars(r"(?<![\\$])\$(?=\S)([^$\n]+?)(?<=\S)\$(?!\d)", md), "equations", 185)


class Dollars(InlineProcessor):
    """An equation between dollars."""

    def handleMatch(self, match, data):
        return self.md.htmlStash.store(formula(match[1])), match.start(0), match.end(0)


def block(source, language, css_class, options, md, **_):
    """Return a block of equations as a table, with a row per line and the names of laws in the last column."""
    lines = [cells(line) for line in source.splitlines()]
    width = max(len(formulas) for formulas, _ in lines)
    rows = "".join(row(formulas, law, width) for formulas, law in lines)
    return f'<div class="{css_class}"><table class="rows" role="presentation">{rows}</table></div>'


def cells(line):
    """Return the formulas of a line, and the name of its law or ""."""
    indent = "    " * line.startswith(" ")
    formulas = re.split(r" {2,}", AROUND.sub(r" \1 ", line.strip()))
    law = formulas.pop() if LAW.fullmatch(formulas[-1]) else ""
    return [indent + formulas[0] if formulas else "", *formulas[1:]], law


def row(formulas, law, width):
    """Return a row of the table. Its last formula spans the remaining columns."""
    spans = [1] * (len(formulas) - 1) + [width - len(formulas) + 1]
    columns = "".join(f'<td colspan="{n}">{formula(each)}</td>' for each, n in zip(formulas, spans, strict=True))
    return f"<tr>{columns}<td>{f'<code>{escape(law)}</code>' if law else ''}</td></tr>"


def formula(text):
    """Return a formula as MathML."""
    return convert(text.startswith(" ") * r"\qquad " + latex(text.strip())) if text else ""


def latex(text):
    """Return a formula with the commands of LaTeX."""
    text = PART.sub(_part, text)
    return "".join(f"{SIGNS[sign]} " if sign in SIGNS else sign for sign in text)


def _part(match):
    if match["index"]:
        return f"_{{{latex(match['index'])}}}"
    if match["word"] is None:
        return match[0]
    return FUNCTIONS.get(match["word"].strip()) or f"\\text{{{match['word']}}}"
