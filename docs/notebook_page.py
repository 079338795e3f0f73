"""Turn a notebook into a page of the site: its text, its code, and its saved outputs."""

import json


def page(notebook):
    """Return the Markdown of a notebook's file."""
    return "\n\n".join(part for cell in json.loads(notebook.read_text("utf-8"))["cells"] for part in parts(cell))


def parts(cell):
    """Yield the Markdown of a cell, and of each of its outputs."""
    if cell["cell_type"] == "markdown":
        yield "".join(cell["source"])
        return
    yield fenced("python", cell["source"])
    for output in cell["outputs"]:
        data = output.get("data", {})
        if "image/png" in data:
            picture = "".join(data["image/png"]).replace("\n", "")
            yield f"![The output of the cell above](data:image/png;base64,{picture})"
        elif "text/html" in data:
            yield f"<div>{''.join(data['text/html'])}</div>"
        else:
            yield fenced("text", output.get("text") or data["text/plain"])


def fenced(language, lines):
    """Return a block of code."""
    return f"```{language}\n{''.join(lines).rstrip()}\n```"
