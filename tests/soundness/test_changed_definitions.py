"""A model or a property of one's own that changes: nothing that was decided about its earlier text is believed."""

import json
import os
import sqlite3
import sys
from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.base import InputError, definitions
from ccmatic.contracts import load_definition, load_fluid
from ccmatic.controllers import parse
from ccmatic.proving import result
from ccmatic.proving.prover import Prover
from ccmatic.questions import query as queries
from ccmatic.synthesis import check_cover, run_file
from ccmatic.synthesis.widening import Grid, folder
from support.forgery import DRAINS, SOURCE

SHIPPED = {
    "model": "from ccmatic.models.ideal import MODEL\n",
    "property": "from ccmatic.properties.avoids import PROPERTY\n",
}


@pytest.fixture(params=SHIPPED)
def mine(request, tmp_path):
    """A definition's file, and the query about it."""
    path = tmp_path / "mine.py"
    path.write_text(SHIPPED[request.param])
    names = {"model": "ideal", "property": "avoids", request.param: str(path)}
    thresholds = {"what": "S[T-1] - S[0] < 1/100 * C"}

    def query():
        return queries.make(
            names["model"], "infinite", 3, property=names["property"], thresholds=thresholds, template="two_branches"
        )

    return path, query


def test_a_search_does_not_resume(mine, tmp_path):
    path, query = mine
    run = tmp_path / "run.db"
    run_file.Store(run, query()).close()
    run_file.Store(run, query()).close()
    path.write_text(path.read_text() + "# another law\n")
    with pytest.raises(InputError, match="its definitions had another text; expected another file"):
        run_file.Store(run, query())
    with pytest.raises(InputError, match="a model or property of yours has changed since"):
        check_cover(run, allow_code=True)


def test_a_run_of_an_earlier_version_is_read_but_not_resumed(mine, tmp_path):
    _, query = mine
    run = tmp_path / "run.db"
    run_file.Store(run, query()).close()
    with sqlite3.connect(run) as database:
        [[text]] = database.execute("SELECT value FROM about WHERE key = 'query'")
        about = json.loads(text)
        del about["definitions_digest"]
        database.execute("UPDATE about SET value = ? WHERE key = 'query'", [json.dumps(about)])
    assert check_cover(run, allow_code=True).faults == ()
    with pytest.raises(InputError, match="its definitions had another text"):
        run_file.Store(run, query())


def test_a_widening_does_not_resume(mine, tmp_path):
    path, query = mine
    found = cm.widen("def rate(C_L):\n    return 1 / 8 * C_L\n", query(), step=1)
    (tmp_path / folder.ABOUT).write_text(folder.to_json(found))
    for number, breaking in enumerate(found.breaking):
        breaking.trace.save(tmp_path / folder.trace_name(number))
    grid = Grid(found.grid.controller, None, Fraction(1), found.grid.most)
    decided = folder.unfinished(tmp_path, query(), grid)
    assert decided.points or decided.traces
    assert not cm.check_widening(tmp_path, allow_code=True).faults
    path.write_text(path.read_text() + "# another law\n")
    with pytest.raises(InputError, match="a model or property of yours has changed since"):
        cm.check_widening(tmp_path, allow_code=True)
    left = folder.unfinished(tmp_path, query(), grid)
    assert not left.points and not left.traces


def test_a_proof_does_not_resume(tmp_path):
    model, proof = tmp_path / "mine.py", tmp_path / "drains.py"
    model.write_text(SHIPPED["model"])
    text = DRAINS.read_text()
    assert 'model="ideal"' in text
    proof.write_text(text.replace('model="ideal"', f'model="{model}"'))

    def begin():
        return result.begin_result(tmp_path, Prover(str(proof), parse(SOURCE, "tardy"), 5), str(proof))

    begin().save()
    begin()
    model.write_text(model.read_text() + "# another law\n")
    with pytest.raises(InputError, match="it belongs to another version of the proof, its model or the controller"):
        begin()


@pytest.mark.parametrize("place", ["a path", "a folder", "a world"])
def test_a_text_that_changes_within_a_second_is_run(place, tmp_path, monkeypatch):
    """Python's bytecode of the earlier text has the same size and the same second of change."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    model = """from ccmatic.models.ideal.laws import Ideal

class Mine(Ideal):
    name = "mine"

    def value(self):
        return VALUE

MODEL = Mine()
"""
    fluid = "def begin(): ...\ndef advance(): ...\n"
    read = []
    for value in (1, 2):
        for name, text in (("laws.py", model), ("fluid.py", fluid), ("helper.py", "")):
            (tmp_path / name).write_text(f"VALUE = {value}\n{text}")
            os.utime(tmp_path / name, (10**9, 10**9))
        (tmp_path / "own.py").write_text("from .helper import VALUE\n")
        if place == "a folder":
            read.append(definitions.load_from_folder(tmp_path, "own", "VALUE"))
            continue
        mine = load_definition("models", "MODEL", str(tmp_path), allow_code=True)
        read.append(load_fluid(mine).VALUE if place == "a world" else mine.value())
    assert read == [1, 2]
