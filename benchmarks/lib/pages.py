"""Tables of reports: lines of Markdown, and their place in a page."""


def table(head, rows):
    """Return the lines of a table."""
    return ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows)]


def write(page, name, lines):
    """Replace the lines of a page between the marks `<!-- NAME -->` and `<!-- end of NAME -->`."""
    before, rest = page.read_text().split(f"<!-- {name} -->\n")
    _, after = rest.split(f"<!-- end of {name} -->")
    text = "\n".join(lines)
    page.write_text(f"{before}<!-- {name} -->\n\n{text}\n\n<!-- end of {name} -->{after}")
