"""The catalogue of definitions that ccmatic ships or that other installed packages add.

Each entry has a kind, a name and a first sentence. No file is executed to obtain the entries.
"""

import ast
import re
from dataclasses import dataclass

from ccmatic.base import definitions, installed
from ccmatic.base.errors import InputError, shown, suggest
from ccmatic.base.files import read_text, syntax_tree

#: For each kind: its folders, and the names of which each file must define one; None for TOML files.
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
    """A definition that commands accept by name.

    Attributes:
        kind: A key of KINDS.
        name: The name by which commands accept the definition.
        says: The first sentence of the definition's file. For a definition of another package, the package and its
            version.
    """

    kind: str
    name: str
    says: str


def list_names(*kinds: str) -> list[Entry]:
    """Return the names that functions and commands accept: of models, queries, templates and others.

    `cm.list_names("models")` lists the models, in the order of their names.

    Args:
        kinds: The kinds: `models`, `queries`, `templates`, `properties`, `proofs` or `controllers`. By default, all
            kinds.

    Returns:
        A list of entries, kind by kind. Each entry has a `kind`, a `name`, and a sentence `says`.

    Raises:
        InputError: If a kind is unknown, or another package uses a name that is already taken.
    """
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise InputError(f"there is no kind '{shown(unknown[0])}'; {suggest(unknown[0], KINDS)}")
    return [entry for kind in kinds or KINDS for entry in _entries(kind)]


def _entries(kind):
    """Yield an Entry per definition of a kind: shipped ones first, sorted by name."""
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
            elif not {*defined}.isdisjoint(_defined(module := syntax_tree(text))):
                yield Entry(kind, name, _first_sentence(ast.get_docstring(module) or ""))
    added = installed.points(kind, names) if kind in installed.KINDS else {}
    for name, point in added.items():
        yield Entry(kind, name, f"From {installed.origin(point)}.")


def _comment(text):
    """Return the comment at the beginning of a TOML file's text."""
    return re.match(r"(?:#.*\n)*", text)[0].replace("# ", "")


def _defined(module):
    """Yield the names to which a module assigns a value, or by which it defines a function."""
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _first_sentence(text):
    """Return, on one line, the text up to its first empty line or the first full stop that a capital letter follows."""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s+(?=[A-Z])", paragraph)[0]
