"""results/: the manifest says which command made each file, and the command makes it again."""

import json
import runpy
import shutil
import subprocess
import sys

import pytest

from ccmatic.cli.commands import cli
from support import ROOT
from support.benchmarks import module

REBUILD = runpy.run_path(str(ROOT / "results" / "rebuild.py"))
ENTRIES = REBUILD["entries"]()
OWN = {"manifest.toml", "rebuild.py", "__init__.py"}


def test_each_generated_file_has_one_entry():
    made = [ROOT / path for entry in ENTRIES for path in REBUILD["made_by"](entry)]
    assert len(made) == len(set(made))
    files = [path for path in (ROOT / "results").rglob("*") if path.is_file() and path.name not in OWN]
    missing = [path for path in files if "__pycache__" not in path.parts and not {path, *path.parents} & {*made}]
    assert missing == []


def test_each_entry_is_whole():
    for entry in ENTRIES:
        words = entry["command"].split()
        if words[0] == "ccmatic":
            assert words[1] in cli.commands
        elif words[1].endswith(".py"):
            assert words[0] == "python" and (ROOT / words[1]).is_file()
        else:
            assert words[:2] == ["python", "-m"] and words[2] == module(words[2].rpartition(".")[2])
        assert entry["commit"], entry["command"]
        assert [*REBUILD["made_by"](entry)], entry["command"]


def test_a_trace_is_made_again(tmp_path):
    """The test works in a copy of the necessary files, so it replaces nothing here."""
    name = "results/gallery/late_drain.json"
    for file in (name, "results/rebuild.py", "results/manifest.toml", "docs/gallery/late_drain.png"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, tmp_path / file)
    subprocess.run(
        "git init -q && git add . && git -c user.name=a -c user.email=a@b commit -qm x", shell=True, cwd=tmp_path
    )
    saved = json.loads((tmp_path / name).read_text())
    (tmp_path / name).unlink()
    done = subprocess.run(
        [sys.executable, "results/rebuild.py", "verify late_drain"], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    again = json.loads((tmp_path / name).read_text())
    assert (again["query"], again["controller"]) == (saved["query"], saved["controller"])
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=tmp_path, capture_output=True, text=True)
    assert f'commit = "{commit.stdout.strip()}"' in (tmp_path / "results/manifest.toml").read_text()


def test_a_command_that_fails_replaces_nothing(tmp_path):
    entry = {"command": "ccmatic verify no_such_controller", "files": {"x.json": "results/tables"}}
    with pytest.raises(SystemExit, match="exit code 2"):
        REBUILD["rebuild"](entry, tmp_path)
    with pytest.raises(SystemExit, match=r"leaves no x\.json"):
        REBUILD["rebuild"]({**entry, "command": "ccmatic --version"}, tmp_path)


def test_entries_are_listed_without_names():
    script = [sys.executable, str(ROOT / "results/rebuild.py")]
    listed = subprocess.run([*script, "--list"], capture_output=True, text=True)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert [entry["command"] for entry in ENTRIES if entry["command"] not in listed.stdout.splitlines()] == []
    without = subprocess.run(script, capture_output=True, text=True)
    assert without.returncode == 2 and "expected a NAME, or --list" in without.stderr


def test_a_reader_may_stop_reading_the_list():
    script = [sys.executable, str(ROOT / "results/rebuild.py"), "--list"]
    with subprocess.Popen(script, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdout.close()
        assert (process.stderr.read(), process.wait()) == ("", 0)
