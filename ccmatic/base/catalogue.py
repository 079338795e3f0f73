"""The catalogue of definitions that ccmatic ships or that other installed packages add.

Each entry has a kind, a name and a first sentence. No file is run.
"""

import ast
import re
from dataclasses import dataclass

from ccmatic.base import definitions, installed
from ccmatic.base.files import read_text

#: For each kind: its folders, and names of which each file defines one; None for TOML files.
KINDS = {
    "models": (("models",), ("MODEL",)),
    "queries": (("examples.queries",), None),
    "templates": (("templates",), ("TEMPLATE",)),
    "properties": (("properties",), ("PROPERTY",)),
    "proofs": (("proofs",), ("PROOF",)),
    "controllers": (definitions.CONTROLLERS, ("rate", "send")),
    "observations": (("models.signals.observations",), ("observe",)),
    "rewards": (("models.signals.rewards",), ("reward",)),
    "actions": (("models.signals.actions",), ("act",)),
}


@dataclass(frozen=True)
class Entry:
    """A definition that commands take by name.

    Attributes:
        kind: A key of KINDS.
        name: The name.
        says: The first sentence of its file; for another package's definition, the package and its version.
    """

    kind: str
    name: str
    says: str


def entries(kinds=tuple(KINDS)):
    """Yield an Entry for each definition of the given kinds, kind by kind. Shipped ones come first, by name.

    Args:
        kinds: Keys of KINDS.

    Raises:
        InputError: If another package uses a name that is taken.
    """
    for kind in kinds:
        folders, defined = KINDS[kind]
        suffix, names = ".py" if defined else ".toml", []
        for folder in folders:
            for name in definitions.shipped(folder, suffix):
                names.append(name)
                if alias := definitions.aliases(folder).get(name):
                    yield Entry(kind, name, f"{alias.says} It is {alias.of}.")
                    continue
                text = read_text(definitions.find_file([folder], name, suffix))
                if not defined:
                    yield Entry(kind, name, _first_sentence(_comment(text)))
                elif not {*defined}.isdisjoint(_defined(module := ast.parse(text))):
                    yield Entry(kind, name, _first_sentence(ast.get_docstring(module) or ""))
        added = installed.points(kind, names) if kind in installed.KINDS else {}
        for name, point in added.items():
            yield Entry(kind, name, f"From {installed.origin(point)}.")


def _comment(text):
    """Return the comment at the top of a TOML file."""
    return re.match(r"(?:#.*\n)*", text)[0].replace("# ", "")


def _defined(module):
    """Yield the names to which a module assigns a value or a function."""
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _first_sentence(text):
    """Return the text up to the first full stop before another sentence, an empty line or the end, on one line."""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s+(?=[A-Z])", paragraph)[0]
