"""The files of synthesised controllers: one readable Python file each, which says what made it."""

import re
from textwrap import wrap

from ccmatic import __version__, cca, definitions
from ccmatic.embedding import docstring
from ccmatic.files import read_text, write_text

_DOCSTRING = re.compile(r'\n    """.*?"""', re.DOTALL)


def write(folder, query, progress):
    """Write the solution that was just found; its path."""
    controller = progress.controller
    like = kin(controller)
    lines = [f"{controller.name}: found by ccmatic {__version__} for the query {query.name}.", ""]
    if like:
        lines += [f"Of the class of the paper's {', '.join(like)}.", ""]
    lines += wrap(f"Query: {query}.", 100, break_on_hyphens=False)
    _, signature, body = controller.source.partition("def rate")
    documented = docstring("\n".join(lines) + "\n") + f"\n\n\n{signature}{_DOCSTRING.sub('', body, count=1)}"
    path = folder / f"{controller.name}.py"
    write_text(path, documented)
    return path


def kin(controller):
    """The names of shipped controllers of the paper that differ in the coefficients of constants only."""
    names = []
    for name in definitions.shipped("synthesized"):
        path = definitions.find_file(["synthesized"], name, ".py")
        text = read_text(path)
        if "Listing 2" in text:
            known = cca.parse(text, name, str(path))
            if known.shape() is not None and known.shape() == controller.shape():
                names.append(name)
    return names
