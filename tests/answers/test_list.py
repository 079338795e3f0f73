"""`ccmatic list`: everything that commands take by name, with what its file says first; no file is run."""

import json

import pytest
from click.testing import CliRunner

from ccmatic.base import catalogue, definitions
from ccmatic.cli.commands import cli

PLACES = {"models": "MODEL", "templates": "TEMPLATE", "properties": "PROPERTY", "proofs": "PROOF"}


def run(*arguments):
    """The exit code and what is printed."""
    done = CliRunner().invoke(cli, ["list", *arguments])
    return done.exit_code, done.output


def listed(*arguments):
    code, out = run(*arguments, "--json")
    assert code == 0
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.parametrize("kind", PLACES)
def test_definitions_that_can_be_named(kind):
    """Those whose code sets what a definition sets, found here by running it."""
    names = [entry["name"] for entry in listed(kind)]
    assert len(names) == len(set(names)) == len(definitions.every(kind, PLACES[kind])) > 0
    for name in names:
        definitions.load(kind, PLACES[kind], name)


def test_every_kind_is_listed_with_a_sentence():
    found = listed()
    assert list(dict.fromkeys(entry["kind"] for entry in found)) == list(catalogue.KINDS)
    for entry in found:
        assert entry["says"].endswith(".") and "\n" not in entry["says"]
    says = {(entry["kind"], entry["name"]): entry["says"] for entry in found}
    assert says["controllers", "cc_qdel"] == "cc_qdel, CCA1 of the paper's Listing 2, found by query G1 of its Table 2."
    assert says["queries", "g2"] == "G2: CCAC with a small buffer."
    assert says["properties", "synthesis_invariant"].startswith("The synthesis invariant (Eq. 5.3 of the paper;")
    assert ("controllers", "never_drain") in says and ("controllers", "__init__") not in says


def test_lines_for_people():
    code, out = run("models", "queries")
    lines = out.splitlines()
    assert code == 0 and lines[0] == "models:" and "queries:" in lines
    assert any(line.split()[0] == "g3" and line.endswith("G3: CCAC with a buffer of any size.") for line in lines)


def test_an_unknown_kind():
    code, out = run("model")
    assert code == 2 and "'models'" in out
