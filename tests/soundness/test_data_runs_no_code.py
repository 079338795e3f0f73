"""Traces, run files and proof files are data: they name shipped definitions, and run no code unless told to."""

import json
import sqlite3

import pytest

from ccmatic import controllers as cca
from ccmatic.answers.verification.judgement import Judge
from ccmatic.answers.verification.replayer import replay
from ccmatic.base import definitions
from ccmatic.base.errors import InputError
from ccmatic.networks.traces.trace import Trace
from ccmatic.proving import result as proved
from ccmatic.questions import query as queries
from ccmatic.synthesis import cover
from ccmatic.synthesis import run_file as store
from ccmatic.synthesis.run_file import COUNTEREXAMPLE, Event, Store
from support import ROOT
from support.cli import run

PROOF = ROOT / "results" / "proofs" / "cc_qdel_T10.json"
WINDOW = ROOT / "results" / "proofs" / "cc_qdel_T10-traces" / "beyond_shrink.json"
SCALE = ["--rate", "24mbit", "--rtt", "40ms"]


@pytest.fixture
def ran(tmp_path):
    """A file that there is once code that a data file names has run."""
    return tmp_path / "ran"


@pytest.fixture
def definition(tmp_path, ran):
    """A definition of a person's own, which tells that it was run."""

    def write(folder, shipped):
        file = tmp_path / f"own_{shipped}.py"
        text = definitions.find_file([folder], shipped, ".py").read_text()
        file.write_text(f"{text}\nopen({str(ran)!r}, 'w').close()\n")
        return str(file)

    return write


def trace(tmp_path, source, **query):
    """Save a copy of a trace with an edited query and a valid digest."""
    loaded = Trace.load(source)
    for key, value in query.items():
        loaded.query[key] = value
    file = tmp_path / "trace.json"
    loaded.save(file)
    return file


@pytest.fixture(scope="module")
def violation():
    """A trace on which the additive controller breaks the invariant."""
    query = queries.make("cbr_delay", "1", 5)
    controller = cca.load(ROOT / "examples" / "controllers" / "blind_additive.py", query.units())
    return query, Judge(query).judge(controller).trace


def refused(printed, path):
    """That the message names the path, and what would run it."""
    code, _, err = printed
    assert code == 2 and "Traceback" not in err and path in err and "--allow-code" in err


def test_replay_runs_no_model_that_a_trace_names(tmp_path, definition, ran, violation):
    path = definition("models", "cbr_delay")
    file = tmp_path / "violation.json"
    violation[1].save(file)
    file = trace(tmp_path, file, model=path)
    refused(run("replay", file), path)
    refused(run("trace", "export", file, "--format", "json", *SCALE), path)
    assert not ran.exists()
    assert run("replay", file, "--allow-code")[0] == 0 and ran.exists()
    ran.unlink()
    assert run("trace", "export", file, "--format", "json", *SCALE, "--allow-code")[0] == 0 and ran.exists()


@pytest.mark.parametrize("key, kind, shipped", [("name", "properties", "lemma"), ("proof", "proofs", "cc_qdel")])
def test_replay_runs_no_property_and_no_proof_that_a_trace_names(key, kind, shipped, tmp_path, definition, ran):
    path = definition(kind, shipped)
    loaded = Trace.load(WINDOW)
    file = trace(tmp_path, WINDOW, property={**loaded.query["property"], key: path})
    refused(run("replay", file), path)
    assert not ran.exists()
    assert run("replay", file, "--allow-code")[0] == 0 and ran.exists()


def test_check_runs_no_proof_that_a_file_names(tmp_path, definition, ran):
    path = definition("proofs", "cc_qdel")
    data = {**json.loads(PROOF.read_text()), "proof": path, "constants": {}, "lemmas": []}
    file = tmp_path / "proof.json"
    file.write_text(json.dumps(data))
    refused(run("check", file), path)
    assert not ran.exists()
    proved.load_result(file, allow_code=True)
    assert ran.exists()


def test_prove_runs_no_proof_that_a_file_in_its_folder_names(tmp_path, definition, ran):
    """Where it goes on with what an earlier run left: only the proof that a person asked for is run."""
    path = definition("proofs", "cc_qdel")
    (tmp_path / PROOF.name).write_text(json.dumps({**json.loads(PROOF.read_text()), "proof": path}))
    refused(run("prove", "cc_qdel", "--proof", "cc_qdel", "--out", tmp_path), path)
    assert not ran.exists()


def test_check_runs_nothing_that_a_proofs_windows_name(tmp_path, definition, ran):
    path = definition("proofs", "cc_qdel")
    windows = tmp_path / WINDOW.parent.name
    windows.mkdir()
    for file in WINDOW.parent.glob("*.json"):
        loaded = Trace.load(file)
        loaded.query["property"]["proof"] = path
        loaded.save(windows / file.name)
    (tmp_path / PROOF.name).write_text(PROOF.read_text())
    result = proved.load_result(tmp_path / PROOF.name)
    for found in result.constants.values():
        if found.edge:
            with pytest.raises(InputError, match="--allow-code"):
                replay(found.edge.trace)
    assert not ran.exists()


@pytest.mark.parametrize(("key", "folder", "shipped"), [
    ("model", "models", "cbr_delay"), ("template", "templates", "sent_rate"),
    ("property", "properties", "synthesis_invariant"),
])  # fmt: skip
def test_check_cover_runs_nothing_that_a_run_names(tmp_path, definition, ran, violation, key, folder, shipped):
    path = definition(folder, shipped)
    query = queries.make("cbr_delay", "1", 5, template="sent_rate")
    file = tmp_path / "run.db"
    kept = Store(file, query)
    kept.add(Event(COUNTEREXAMPLE, (0, 0, 0), trace=violation[1].to_json()))
    kept.close()
    record = query.search()
    record[key] = {**record[key], "name": path} if key == "property" else path
    with sqlite3.connect(file) as database:
        database.execute("UPDATE about SET value = ? WHERE key = 'query'", [json.dumps(record, sort_keys=True)])
    refused(run("check-cover", file), path)
    assert run("runs", file)[0] == 0
    assert not ran.exists()
    cover.check_cover(file, allow_code=True)
    assert ran.exists()


@pytest.mark.parametrize("name", [
    "../models/ccac", "/etc/passwd", "./ccac.py", "ccac.json", "ccac.toml", "__init__", "ccmatic.models.ccac",
    "..models.ccac", "ccac.MODEL", "os", "", " ccac", "CCAC", "a\0b", "a\0b.py", 5, None, ["ccac"], {"a": 1},
])  # fmt: skip
@pytest.mark.parametrize("kind", ["models", "properties", "templates", "proofs"])
def test_names_in_data_are_those_of_shipped_definitions(kind, name):
    with pytest.raises(InputError):
        definitions.load(kind, "MODEL", name)


def test_a_link_to_a_shipped_name_is_still_a_path(tmp_path):
    link = tmp_path / "ccac.py"
    link.symlink_to(ROOT / "models" / "ccac" / "laws.py")
    with pytest.raises(InputError, match="--allow-code"):
        definitions.load("models", "MODEL", str(link))


def test_a_start_within_data_is_not_followed(tmp_path, violation):
    """`start` names what a deployed flow runs first; nothing that judges a trace reads it."""
    _, found = violation
    named = tmp_path / "absent.py"
    source = f"{found.controller}\nstart = {str(named)!r}\n"
    file = tmp_path / "trace.json"
    Trace(found.horizon, found.constants, found.columns, found.query, source, found.broken).save(file)
    assert replay(Trace.load(file)).faults == ()


@pytest.mark.parametrize("statement", [
    "CREATE TRIGGER more AFTER INSERT ON events BEGIN INSERT INTO about VALUES ('finished', '0'); END",
    "CREATE VIEW seen AS SELECT * FROM events", "CREATE TABLE other (a)",
    "ALTER TABLE about ADD COLUMN b AS (key || value)",
])  # fmt: skip
def test_a_run_file_has_two_plain_tables(tmp_path, statement):
    query = queries.make("cbr_delay", "1", 5, template="sent_rate")
    Store(tmp_path / "run.db", query).close()
    with sqlite3.connect(tmp_path / "run.db") as database:
        database.execute(statement)
    with pytest.raises(InputError, match="not a run of ccmatic"):
        store.read_run(tmp_path / "run.db")
    with pytest.raises(InputError, match="not a run of ccmatic"):
        Store(tmp_path / "run.db", query)
