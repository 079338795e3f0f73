"""What ccmatic does with definitions it does by what they declare: the engine names none of them."""

import ast

from ccmatic.base import definitions
from ccmatic.questions import query
from support import ROOT

#: The reproduction of the paper's trade-off, and the records of what it prints, name what the paper names.
STUDIES = ("tradeoff", "tradeoffs")

NAMES = {"C_L", "C_U", "C_Llambda", "qdel_L", "qdel_U", "q_U"}.union(
    *(definitions.shipped(kind) for kind in ("models", "properties", "templates", "proofs", "synthesized"))
)
SIGNALS = {
    name for kind in ("observations", "rewards", "actions") for name in definitions.shipped(f"models.signals.{kind}")
}
#: Formulas of learners are named by words of other meanings, too; `cubic` is the kernel's congestion control.
NAMES |= SIGNALS - {"beliefs", "cubic", "power", "rate", "relative"}


def words(text):
    """Every string of a module, but for docstrings and the names of its own in `__all__`."""
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.Assign) and "__all__" in ast.unparse(node))]
    prose = [node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)]
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose
    }


ENGINE = [
    file
    for file in sorted((ROOT / "ccmatic").rglob("*.py"))
    if not {*file.relative_to(ROOT / "ccmatic").with_suffix("").parts} & {*STUDIES}
]


def test_no_definition_is_named_in_the_engine():
    # "lemma" is a key of reports, too, and "guarantee" a section of queries.
    named = {file: words(file.read_text()) & NAMES - {"lemma", "guarantee"} for file in ENGINE}
    assert {str(file): names for file, names in named.items() if names} == {}


def test_a_name_in_the_engine_would_be_found():
    assert words('"""ccac"""\nx = ["ccac", f"{1}q_U"]') & NAMES == {"ccac", "q_U"}


def test_the_default_property_is_declared():
    asked = query.make("ccac", "infinite", 5)
    assert asked.names["property"] == definitions.chosen("properties", "DEFAULT") == asked.property.name


def test_what_is_declared_is_shipped():
    assert {*definitions.chosen("synthesized", "PUBLISHED")} < {*definitions.shipped("synthesized")}
    assert {definitions.chosen("models.signals", role) for role in ("DEFAULT", "RATE", "CUBIC", "ORCA")} < SIGNALS
    assert {definitions.chosen("properties", role) for role in ("DEFAULT", "LEMMA")} < {
        *definitions.shipped("properties")
    }
