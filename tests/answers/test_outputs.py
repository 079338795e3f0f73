"""Where commands write: nothing that they did not make is replaced, nothing half-made looks whole."""

import json
import shutil
import subprocess
import sys
from fractions import Fraction
from types import SimpleNamespace

import pytest

from ccmatic.base import counted
from ccmatic.base.errors import InputError
from ccmatic.questions import query
from ccmatic.synthesis import cegis
from ccmatic.synthesis import solution_files as solutions
from ccmatic.synthesis.reports import cover_text, widening_check_text
from support import ROOT
from support.cli import lines, run
from support.sampling import each_nth

CCAC = ["--model", "ccac", "--buffer", "any", "--horizon", "5"]


def test_solutions_are_in_a_folder_of_the_query(tmp_path):
    code, out, _ = run("synth", "g1_t5", "--json", cwd=tmp_path)
    *found, _ = lines(out)
    assert code == 0 and [path.name for path in tmp_path.iterdir()] == ["g1_t5-solutions"]
    assert [line["file"] for line in found] == [f"g1_t5-solutions/g1_t5_{n}.py" for n in (1, 2, 3, 4)]
    assert all((tmp_path / line["file"]).exists() for line in found)
    assert json.loads((tmp_path / "g1_t5-solutions/solutions.json").read_text())["complete"] is True


def synthesise(folder, name="g1_t5", least=None):
    """Into a folder, up to the solution `least`, or whole."""
    asked = query.load(name)
    kept = solutions.Folder(folder, asked)
    for now in cegis.search(asked):
        if now.controller:
            kept.add(now)
        if least and now.solutions == least:
            return kept
    kept.complete()
    return kept


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.slow
def test_a_folder_of_solutions_is_replaced_as_a_whole(tmp_path):
    synthesise(tmp_path / "found")
    assert len(names(tmp_path / "found")) == 5
    synthesise(tmp_path / "found", least=1)
    assert len(names(tmp_path / "found")) == 5
    assert names(tmp_path / "found.partial") == ["g1_t5_1.py", "solutions.json"]
    assert json.loads((tmp_path / "found.partial/solutions.json").read_text())["complete"] is False
    synthesise(tmp_path / "found", "g1_t4")
    assert names(tmp_path) == ["found"] and names(tmp_path / "found") == ["solutions.json"]


@pytest.mark.parametrize(
    "bad", each_nth(3, [["--step", "0"], ["--most", "1/2"], ["--step", "1/1000000"]]), ids=" ".join
)
def test_a_search_that_bad_input_ends_changes_no_folder(bad, tmp_path):
    """It left NAME.partial, and removed what an interrupted search had left there."""
    code, _, err = run("widen", "cc_qdel", "--query", "g3", *bad, cwd=tmp_path)
    assert code == 2 and len(err.splitlines()) == 1 and names(tmp_path) == []
    kept = synthesise(tmp_path / "cc_qdel-wider", least=1)
    assert run("widen", "cc_qdel", "--query", "g3", *bad, cwd=tmp_path)[0] == 2
    assert names(tmp_path) == ["cc_qdel-wider.partial"]
    assert names(kept.partial(kept.path)) == ["g1_t5_1.py", "solutions.json"]


def test_a_synthesis_whose_run_file_is_none_leaves_no_folder(tmp_path):
    (tmp_path / "run.db").write_text("no run of synthesis")
    code, _, err = run("synth", "g1_t5", "--run", "run.db", cwd=tmp_path)
    assert code == 2 and "not a run of ccmatic" in err and names(tmp_path) == ["run.db"]


def test_what_no_synthesis_wrote_is_not_replaced(tmp_path):
    folder = tmp_path / "found"
    synthesise(folder)
    changed = folder / "g1_t5_2.py"
    (folder / "mine.py").write_text("kept")
    with pytest.raises(InputError, match="found/mine.py: no synthesis wrote this"):
        solutions.Folder(folder, query.load("g1_t5"))
    (folder / "mine.py").unlink()
    changed.write_text(changed.read_text() + "# tuned\n")
    with pytest.raises(InputError, match="g1_t5_2.py: .*changed since"):
        solutions.Folder(folder, query.load("g1_t5"))
    assert len(names(folder)) == 5 and names(tmp_path) == ["found"]


def test_shipped_solutions_are_not_overwritten(tmp_path):
    shutil.copytree(ROOT / "synthesized", tmp_path / "synthesized")
    before = {file: file.read_bytes() for file in (tmp_path / "synthesized").glob("*.py")}
    code, _, err = run("synth", "g3", "--out", "synthesized", cwd=tmp_path)
    assert code == 2 and "no synthesis wrote this" in err
    assert before == {file: file.read_bytes() for file in (tmp_path / "synthesized").glob("*.py")}


def test_a_killed_synthesis_leaves_nothing_that_looks_complete(tmp_path):
    command = [sys.executable, "-m", "ccmatic", "synth", "g1_t5", "--json"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        first = json.loads(process.stdout.readline())
        process.kill()
    assert not (tmp_path / "g1_t5-solutions").exists()
    assert (tmp_path / first["file"].replace("-solutions", "-solutions.partial")).exists()
    assert run("synth", "g1_t5", "--timeout", "100", cwd=tmp_path)[0] == 0
    assert names(tmp_path) == ["g1_t5-solutions"]


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture(scope="module")
def kill_at():
    """A function that sets the number of operations on files before this process ends; None for no end."""
    left = None

    def count(event, arguments):
        nonlocal left
        if left is not None and event in ("open", "os.mkdir", "os.remove", "os.rename", "os.rmdir"):
            left -= 1
            if left < 0:
                raise Killed

    def at(number):
        nonlocal left
        left = number

    sys.addaudithook(count)  # there is no way to remove it
    return at


def killed(number, folder, asked, kill_at):
    """Write two files, one of them twice, and end before an operation on files. Return whether there are so many."""
    kill_at(number)
    try:
        kept = solutions.Folder(folder, asked)
        for name, text in (("a.py", "1"), ("b.json", "1"), ("b.json", "2")):
            kept.keep(name, text)
        kept.complete()
    except Killed:
        return True
    finally:
        kill_at(None)
    return False


def test_a_folder_is_written_again_wherever_a_synthesis_was_killed(kill_at, tmp_path):
    """It refused what it had left itself: a file that was just written, or half-written, or half-removed."""
    folder, asked = tmp_path / "found", query.load("g1_t5")
    number = 0
    while killed(number, folder, asked, kill_at):
        assert not killed(10**9, folder, asked, kill_at), number
        assert names(tmp_path) == ["found"] and names(folder) == ["a.py", "b.json", "solutions.json"]
        killed(12, folder, asked, kill_at)  # the next one also removes what this one leaves
        number += 1
    assert number > 40


@pytest.mark.parametrize("arguments", each_nth(2, [
    ["replay", "trace.json", "--plot", "none/trace.svg"],
    ["replay", "trace.json", "--csv", "none/trace.csv"],
    ["trace", "export", "trace.json", "--format", "csv", "--rate", "24mbit", "--rtt", "40ms", "--out", "none/t.csv"],
    ["verify", "always_double", *CCAC, "--smt2", "none/q.smt2"],
]), ids=" ".join)  # fmt: skip
def test_folders_are_not_made_for_a_file_that_a_person_names(arguments, late_drain, tmp_path):
    shutil.copy(late_drain, tmp_path / "trace.json")
    code, _, err = run(*arguments, cwd=tmp_path)
    assert code == 2 and "cannot write: No such file or directory" in err and len(err.splitlines()) == 1
    assert names(tmp_path) == ["trace.json"]


@pytest.fixture
def late_drain():
    return ROOT / "results/gallery/late_drain.json"


def test_a_verdict_stands_where_its_trace_cannot_be_saved(tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = run("verify", "always_double", *CCAC, "--out", "file/traces", "--json", cwd=tmp_path)
    [verdict] = lines(out)
    assert (code, verdict["verdict"], verdict["trace"]) == (1, "violated", None)
    assert "--out" in err and len(err.splitlines()) == 1
    code, out, err = run("verify", "always_double", *CCAC, "--out", "file/traces", cwd=tmp_path)
    assert code == 1 and "violated" in out and "replay" not in out and "--out" in err


@pytest.mark.parametrize("value", ["2", "-1/2", "1001/1000"])
def test_a_share_is_at_most_one(value, tmp_path):
    (tmp_path / "query.toml").write_text(
        f'[network]\nmodel = "ccac"\nbuffer = "any"\nhorizon = 5\n[property]\nutilisation = "{value}"\n'
    )
    for network in ([*CCAC, "--utilisation", value], ["--query", "query.toml"]):
        code, out, err = run("verify", "cc_qdel", *network, cwd=tmp_path)
        assert (code, out) == (2, "") and f"utilisation is {value}; expected a number from 0 to 1" in err


@pytest.mark.parametrize(
    "number, says",
    [(0, "0 steps"), (1, "1 step"), (Fraction(1), "1 step"), ("1", "1 step"), (Fraction(1, 2), "1/2 steps")],
)
def test_a_number_has_its_noun(number, says):
    """`synth` printed "1 solutions"."""
    assert counted(number, "step") == says


def test_one_solution_and_one_envelope_are_the_only_ones():
    question = SimpleNamespace(template=SimpleNamespace(size=7))
    cover = SimpleNamespace(solutions=1, query=question, method="enumeration", covered=False, faults=(), uncovered=None)
    assert "no class has a solution but those of its 1 solution" in cover_text("run.db", cover)
    widened = SimpleNamespace(complete=False, envelopes=1, faults=(), uncovered=None)
    assert "its 1 envelope is the only maximal one" in next(widening_check_text("folder", widened))
