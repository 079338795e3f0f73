"""What is saved and printed is as the JSON Schemas of the records say."""

import gzip
import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from ccmatic.cli.commands import cli
from support import ROOT
from support.json_schemas import SCHEMAS, validate

DRAIN, RUN = ROOT / "results" / "gallery" / "late_drain.json", ROOT / "tests" / "saved" / "g1_t5.db"


def test_the_schemas_in_the_documentation_are_these(tmp_path):
    subprocess.run([sys.executable, ROOT / "docs" / "built_pages.py", tmp_path], check=True)
    written = {file.stem: json.loads(file.read_text()) for file in (tmp_path / "schemas").glob("*.json")}
    assert written == SCHEMAS


def test_saved_traces_and_proofs():
    traces = [*ROOT.glob("results/gallery/*.json"), *ROOT.glob("results/proofs/*-traces/*.json")]
    proofs = [*ROOT.glob("results/proofs/*.json")]
    windows = (ROOT / "results" / "tables" / "windows.jsonl").read_text().splitlines()
    saved = [*(json.loads(file.read_text()) for file in traces), *(json.loads(line)["trace"] for line in windows)]
    assert len(saved) >= 140 and proofs
    for trace in saved:
        validate(trace, "TraceFile")
    for file in proofs:
        validate(json.loads(file.read_text()), "ProofFile")


def test_a_saved_run():
    with sqlite3.connect(RUN) as database:
        about = dict(database.execute("SELECT key, value FROM about"))
        database.row_factory = sqlite3.Row
        events = [dict(row) for row in database.execute("SELECT * FROM events")]
    validate({**about, "query": json.loads(about["query"])}, "RunAbout")
    for event in events:
        validate({**event, "candidate": json.loads(event["candidate"])}, "RunEvent")


def test_a_saved_certificate_but_for_its_format():
    """The first did not say it."""
    file = min(ROOT.glob("results/proofs/*-certificates/*.gz"), key=lambda file: file.stat().st_size)
    validate({"format": "ccmatic certificate 1", **json.loads(gzip.decompress(file.read_bytes()))}, "CertificateFile")


def printed(*arguments):
    """The lines that a command prints with --json."""
    found = CliRunner().invoke(cli, [*map(str, arguments), "--json"], standalone_mode=False)
    assert found.exception is None and found.stdout
    return [json.loads(line) for line in found.stdout.splitlines()]


AT = ("--rate", "24mbit", "--rtt", "40ms")
SMALL = ("--model", "ccac", "--buffer", "infinite", "--horizon", "5")


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("VerifyLine", ("verify", "g1_t11_1", "always_double", *SMALL)),
        ("WorstLine", ("worst", "cc_qdel", "--of", "delay", "--at", "1", *SMALL)),
        ("ReplayLine", ("replay", DRAIN)),
        ("RunLine", ("runs", RUN)),
        ("CoverLine", ("check-cover", RUN)),
        ("EntryLine", ("list",)),
        ("ExportLine", ("export", "cc_qdel", "--target", "c")),
        ("TraceExportLine", ("trace", "export", DRAIN, "--format", "csv", *AT, "--out", "x")),
    ],
)
def test_lines(kind, arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line in printed(*arguments):
        validate(line, kind)


def test_lines_and_files_of_synth(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    *solutions, last = printed("synth", "g1_t5", "--out", "found")
    for line in solutions:
        validate(line, "SolutionLine")
    validate(last, "SynthesisLine")
    validate(json.loads(Path("found/solutions.json").read_text()), "SolutionsFile")


def test_a_line_with_another_key_or_type_is_none():
    validate({"kind": "models", "name": "ccac", "says": ""}, "EntryLine")
    for wrong in ({"kind": "models", "name": "ccac"}, {"kind": 1, "name": "", "says": ""}):
        assert not Draft202012Validator(SCHEMAS["EntryLine"]).is_valid(wrong)
