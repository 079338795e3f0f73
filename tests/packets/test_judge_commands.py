"""The commands of judge on a shipped controller: verdicts, searches, witnesses, differences, pipelines, bad input."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ccmatic import judging
from support.cli import run
from support.json_schemas import validate

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="needs cc")

SEARCH = ("--rule", "decrease-cubic", "--runs", "6", "--budget", "200")


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path_factory):
    monkeypatch.chdir(tmp_path_factory.mktemp("judged"))


def lines(out, kind, total=None):
    """The lines of an output, of which the last may be a total."""
    *found, last = [json.loads(line) for line in out.splitlines()]
    validate(last, total or kind)
    for line in found:
        validate(line, kind)
    return found if total else [*found, last]


def test_a_run_is_judged_by_every_rule_that_applies(tmp_path):
    code, out, _ = run("judge", "run", "cubic", "--event", "lose 1 packet at 5 s", "--out", tmp_path, "--json")
    verdicts = {line["rule"]: line for line in lines(out, "JudgedLine", "JudgedTotalLine")}
    assert code == 0 and verdicts["decrease-cubic"]["verdict"] == "kept"
    assert abs(verdicts["decrease-cubic"]["value"] - 0.7) < 0.001
    assert verdicts["marks"]["verdict"] == "not applicable" and "marks nothing" in verdicts["marks"]["reason"]
    assert {file.name for file in tmp_path.iterdir()} == {"scenario.json", "recording.npz"}
    again = run("judge", "run", "cubic", "--scenario", tmp_path / "scenario.json", "--json")
    assert again[:2] == (code, out)


def test_an_expectation_that_a_run_does_not_meet():
    code, out, _ = run("judge", "run", "cubic", "--expect", "utilisation >= 99.9% over every 1 s", "--on", PATH)
    assert code == 1 and out.startswith("broken   utilisation >= 99.9% over every 1 s")


PATH = "12 mbit, rtt 40 ms, buffer 1/4 bdp"


def test_a_search_finds_shrinks_reruns_and_reports(tmp_path):
    """A constant window of a model grows never, so it leaves a faster link unused."""
    code, out, _ = run("judge", "search", "one_packet", "--rule", "utilisation", "--runs", "3", "--budget", "100",
                       "--out", tmp_path, "--json")  # fmt: skip
    [line] = lines(out, "SearchedLine", "SearchedTotalLine")
    assert code == 1 and line["verdict"] == "broken" and line["events"] == 0
    witness = tmp_path / "utilisation.json"
    validate(json.loads(witness.read_text()), "WitnessFile")
    code, out, _ = run("judge", "run", witness, "--json")
    [again] = lines(out, "JudgedLine", "JudgedTotalLine")
    assert code == 1 and again["value"] == json.loads(witness.read_text())["value"]
    code, out, _ = run("replay", witness, "--json")
    [replayed] = lines(out, "WitnessLine")
    assert code == 0 and replayed["passes"] and not replayed["faults"]
    made = json.loads(witness.read_text())
    for forged in ({"value": made["value"] / 2}, {"margin": made["margin"] * 2}, {"threshold": "at most 0"}):
        (tmp_path / "forged.json").write_text(json.dumps(made | forged))
        code, out, _ = run("replay", tmp_path / "forged.json")
        assert code == 1 and out.count("the file states") == 1
    code, out, _ = run("judge", "report", witness, "--out", tmp_path / "report")
    page = (tmp_path / "report" / "report.md").read_text()
    assert code == 0 and "| spacing 200 µs | broken |" in page and "RFC 9743" in page
    qlog = json.loads((tmp_path / "report" / "run.qlog").read_text())
    assert {event["name"] for event in qlog["traces"][0]["events"]} >= {"transport:packet_sent"}
    code, out, _ = run("judge", "shrink", witness)
    assert code == 0 and judging.load_witness(witness).record.rule == "utilisation"


def test_a_file_runs_code_only_with_consent(tmp_path, monkeypatch):
    """A witness or a scenario from elsewhere may name any code, and a folder may have the name of a controller."""
    monkeypatch.chdir(tmp_path)
    judging.new_adaptor("toy", "python")
    run("judge", "search", "one_packet", "--budget", "2", "--rule", "utilisation", "--out", "judged")
    made = json.loads(Path("judged/utilisation.json").read_text())
    Path("other.json").write_text(json.dumps({**made, "subject": "./toy"}))
    beside = {**made["scenario"], "flows": [*made["scenario"]["flows"], {"start": 0, "beside": "toy/controller.py"}]}
    Path("scenario.json").write_text(json.dumps(beside))
    for arguments in (
        *(("judge", command, "other.json") for command in ("run", "shrink")),
        ("judge", "report", "other.json", "--out", "report"),
        ("judge", "bisect", "other.json", "--from", "1", "--to", "2"),
        ("replay", "other.json"),
        ("judge", "run", "cubic", "--scenario", "scenario.json"),
        ("judge", "diff", "cubic", "reno", "--scenario", "scenario.json"),
    ):
        code, _, err = run(*arguments)
        assert code == 2 and "whose code would be built and run; give --allow-code if you trust it" in err, arguments
    assert run("judge", "run", "other.json", "--allow-code")[0] in (0, 1)
    Path("one_packet").mkdir()
    code, out, _ = run("judge", "run", "judged/utilisation.json")
    assert code == 1 and "one_packet (ccmatic" in out  # the shipped controller, not the folder


def test_a_file_that_cannot_be_written_and_a_tolerance_that_is_no_number_get_one_message():
    code, _, err = run("judge", "search", "cubic", *SEARCH, "--run", "/proc/nope")
    assert code == 2 and "cannot write" in err and err.count("\n") == 1
    code, _, err = run("judge", "diff", "cubic", "reno", "--tolerance", "nan")
    assert code == 2 and "nan is no share" in err


def test_a_search_that_finds_nothing():
    code, out, _ = run("judge", "search", "cubic", *SEARCH)
    assert code == 0 and out.startswith("kept      decrease-cubic: 0.7 of the window before; 0.7, within 0.03")
    assert ": 0 rules broken, 1 kept, 0 not asked; 6 runs in " in out.splitlines()[-1]


def test_a_pipeline(tmp_path):
    code, _, _ = run("judge", "ci", "one_packet", "--budget", "2", "--rule", "utilisation", "--rule", "marks",
                     "--junit", tmp_path / "judge.xml")  # fmt: skip
    suite = ElementTree.parse(tmp_path / "judge.xml").getroot()
    assert code == 1 and suite.attrib["failures"] == "1" and suite.attrib["skipped"] == "1"
    [failure] = suite.iter("failure")
    assert "at least 50 %" in failure.attrib["message"] and failure.text.startswith("ccmatic judge run ")


def test_a_table(tmp_path):
    code, _, _ = run("judge", "table", "one_packet", "--rule", "utilisation", "--budget", "2", "--out", tmp_path)
    table = (tmp_path / "table.md").read_text().splitlines()
    assert code == 1 and table[0] == "| rule | one_packet |" and table[2].startswith("| utilisation | **")


def test_the_windows_of_two_controllers_part():
    code, out, _ = run("judge", "diff", "cubic", "cubic", "--seconds", "5")
    assert code == 0 and out.startswith("no difference")
    code, out, _ = run("judge", "diff", "reno", "cubic", "--seconds", "10", "--json")
    [line] = lines(out, "DifferenceLine")
    assert code == 1 and line["verdict"] == "different" and line["at"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "nosuch:cubic"), "there is no subject 'nosuch:cubic'"),
        (("run", "cubic", "--rule", "utilization"), "did you mean 'utilisation'"),
        (("run", "cubic", "--event", "hold 30 ms at 2 s"), "is longer than the jitter"),
        (("run", "cubic", "--event", "hlod 30 ms at 2 s"), "did you mean 'hold'"),
        (("run", "cubic", "--scenario", "missing.json"), "missing.json: cannot read"),
        (("run", "cubic", "--expect", "utilisation => 80%"), "utilisation"),
        (("new", "Toy", "--language", "rust"), "is no name of a controller"),
        (("new", "", "--language", "rust"), "'' is no name of a controller"),
        (("run", "cubic", "--on", ""), "'' has an empty part"),
        (("shrink", "missing.json"), "missing.json: cannot read"),
        (("diff", "cubic", "nosuch"), "there is no subject 'nosuch'"),
    ],
)
def test_bad_input_is_one_message(arguments, message):
    code, out, errors = run("judge", *arguments)
    assert code == 2 and out == "" and message in errors and len(errors.strip().splitlines()) == 1
