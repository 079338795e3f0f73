"""What ccmatic ships, by kind and name, each with the first sentence that its file says, and what other installed
packages add; no file is run."""

import ast
import re
from dataclasses import dataclass

from ccmatic.base import definitions, installed
from ccmatic.base.files import read_text

#: The folders of each kind and what a file there defines, one of these names; no name stands for a file of TOML.
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
    """One thing that commands take by its name. kind: a key of KINDS. says: the first sentence of its file, or, of
    another package's, the package and its version."""

    kind: str
    name: str
    says: str


def entries(kinds=tuple(KINDS)):
    """Yield an Entry for each thing of these kinds, keys of KINDS: kind by kind, the shipped ones first, by name.
    Raises InputError where other packages give a name that is taken."""
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
            yield Entry(kind, name, f"Of {installed.origin(point)}.")


def _comment(text):
    """The lines of comment at the top of a TOML file."""
    return re.match(r"(?:#.*\n)*", text)[0].replace("# ", "")


def _defined(module):
    """The names that a module gives a value or a function."""
    for statement in module.body:
        if isinstance(statement, ast.FunctionDef):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _first_sentence(text):
    """Up to the first full stop before a new sentence, an empty line or the end; on one line."""
    paragraph = " ".join(text.strip().split("\n\n")[0].split())
    return re.split(r"(?<=\.)\s+(?=[A-Z])", paragraph)[0]
