"""Runs of synthesis: their files, their resumption after a kill, their workers, and the check of completeness."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ccmatic.questions import query
from ccmatic.synthesis import cegis, cover
from ccmatic.synthesis import run_file as store
from support.cli import lines, run


def command(*arguments):
    return [sys.executable, "-c", "from ccmatic.cli import main; main()", *map(str, arguments)]


def classes(file):
    """The solution classes of a run, whatever represents them."""
    about, events = store.read_run(file)
    holes = query.from_record(about.query).template.holes()
    solutions = [event.candidate for event in events if event.kind == store.SOLUTION]
    return {tuple(hole[i].beliefs for hole, i in zip(holes, candidate, strict=True)) for candidate in solutions}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run of g1_t5."""
    folder = tmp_path_factory.mktemp("run")
    code, out, _ = run("synth", "g1_t5", "--run", "run.db", "--json", cwd=folder)
    assert code == 0 and lines(out)[-1]["solutions"] == 4
    return folder / "run.db"


@pytest.mark.slow
def test_a_finished_run_is_not_run_again(finished):
    code, out, _ = run("synth", "g1_t5", "--run", finished, "--json", cwd=finished.parent)
    *solutions, summary = lines(out)
    assert (code, len(solutions), summary["solutions"]) == (0, 4, 4)
    _, events = store.read_run(finished)
    assert summary["iterations"] == sum(event.kind != store.PROVED for event in events)


def test_runs_lists(finished):
    code, out, _ = run("runs", finished, "--json", cwd=finished.parent)
    [line] = lines(out)
    assert (code, line["name"], line["finished"], line["solution"], line["proved"]) == (0, "g1_t5", True, 4, 1)
    code, out, _ = run("runs", finished, cwd=finished.parent)
    assert "4 solution" in out and "buffer: infinite" in out


def test_another_query_is_refused(finished):
    before = finished.read_bytes()
    code, out, err = run("synth", "g3", "--run", finished, cwd=finished.parent)
    assert (code, out) == (2, "")
    assert "the run is of another query: its buffer is infinite, this one's is any" in err
    assert finished.read_bytes() == before


def told(finished, folder, key, value):
    """Every command's outcome on a copy of the run whose `about` says this."""
    file = shutil.copy(finished, folder / "old.db")
    with sqlite3.connect(file) as database:
        database.execute("UPDATE about SET value = ? WHERE key = ?", (value, key))
    for arguments in (["synth", "g1_t5", "--run", file], ["runs", file], ["check-cover", file]):
        yield run(*arguments, cwd=folder)


@pytest.mark.slow
def test_a_run_of_another_version_is_read(finished, tmp_path):
    assert [code for code, _, _ in told(finished, tmp_path, "version", "0.0.1")] == [0, 0, 0]


def test_another_format_is_refused(finished, tmp_path):
    for code, out, err in told(finished, tmp_path, "format", "ccmatic run 2"):
        assert (code, out) == (2, "")
        assert 'expected a run, with "format": "ccmatic run 1"' in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("content", [b"not a database", b""])
def test_what_is_not_a_run_is_refused(content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    code, _, err = run("runs", "file", cwd=tmp_path)
    assert code == 2 and "not a run of ccmatic" in err and len(err.splitlines()) == 1


def test_a_run_in_use_is_refused(tmp_path):
    busy = store.Store(tmp_path / "run.db", query.load("g1_t4"))
    code, _, err = run("synth", "g1_t4", "--run", "run.db", cwd=tmp_path)
    busy.close()
    assert code == 2 and "another process is using it" in err


@pytest.mark.slow
def test_the_number_of_jobs_does_not_matter(finished, tmp_path):
    code, _, _ = run("synth", "g1_t5", "--run", "two.db", "--jobs", "2", "--json", cwd=tmp_path)
    assert code == 0
    assert classes(tmp_path / "two.db") == classes(finished)


def test_a_worker_that_dies_is_replaced(finished, tmp_path):
    process = subprocess.Popen(
        command("synth", "g1_t5", "--run", "run.db", "--jobs", "2", "--json"),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    victim = _child_at_work(process.pid, tmp_path / "run.db")
    os.kill(victim, signal.SIGKILL)
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0 and lines(out)[-1]["solutions"] == 4
    assert classes(tmp_path / "run.db") == classes(finished)


def _child_at_work(parent, file):
    """A worker process, once the run has begun to learn."""
    for _ in range(600):
        time.sleep(0.05)
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
        workers = [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
        if workers and file.exists() and file.stat().st_size > 20_000:
            return int(workers[-1])
    raise AssertionError("no worker came to work")


def kill_at_random(arguments, folder, kills, longest, seed):
    """Run a command, killed again and again after a random time, then to its end; its last output."""
    rng = random.Random(seed)
    for _ in range(kills):
        process = subprocess.Popen(command(*arguments), cwd=folder, stdout=subprocess.DEVNULL)
        try:
            process.wait(timeout=rng.uniform(0.3, longest))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        time.sleep(0.3)
    return run(*arguments, cwd=folder)


def test_a_killed_run_goes_on(finished, tmp_path):
    code, out, _ = kill_at_random(["synth", "g1_t5", "--run", "run.db", "--json"], tmp_path, 2, 1.5, seed=1)
    assert (code, lines(out)[-1]["solutions"]) == (0, 4)
    assert classes(tmp_path / "run.db") == classes(finished)
    assert cover.check_cover(tmp_path / "run.db").covered


@pytest.mark.slow
def test_g6_killed_ten_times_with_two_jobs(tmp_path):
    arguments = ["synth", "g6", "--run", "killed.db", "--jobs", "2", "--json"]
    code, out, _ = kill_at_random(arguments, tmp_path, 10, 8, seed=2)
    assert (code, lines(out)[-1]["solutions"]) == (0, 20)
    assert run("synth", "g6", "--run", "whole.db", "--json", cwd=tmp_path)[0] == 0
    assert classes(tmp_path / "killed.db") == classes(tmp_path / "whole.db")


def test_a_full_disk_leaves_the_run_intact(finished, tmp_path):
    """The limit on a file's size stands for a full disk; the part of the run before it is kept."""
    program = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (90_000, 90_000)); from ccmatic.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "synth", "g1_t5", "--run", "run.db"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "run.db: cannot use the run file" in done.stderr and len(done.stderr.splitlines()) == 1
    assert store.read_run(tmp_path / "run.db")[1]
    code, out, _ = run("synth", "g1_t5", "--run", "run.db", "--json", cwd=tmp_path)
    assert (code, lines(out)[-1]["solutions"]) == (0, 4)


def altered(source, target, statement, *values):
    file = shutil.copy(source, target)
    with sqlite3.connect(file) as database:
        database.execute(statement, values)
    return file


def test_check_cover(finished, tmp_path):
    assert cover.check_cover(finished).covered
    _, events = store.read_run(finished)
    for event in (events[1], events[20], events[-1]):
        file = altered(finished, tmp_path / "less.db", "DELETE FROM events WHERE number = ?", event.number)
        report = cover.check_cover(file)
        assert not report.covered and f"event {event.number} is missing" in report.faults


def test_check_cover_says_whether_it_believes_the_solutions(finished):
    code, out, _ = run("check-cover", finished, cwd=finished.parent)
    assert code == 0 and "the solutions are trusted; --verify-solutions verifies them again" in out
    code, out, _ = run("check-cover", finished, "--verify-solutions", "--json", cwd=finished.parent)
    [line] = lines(out)
    assert (code, line["covered"], line["solutions_verified"], line["undecided"]) == (0, True, True, [])
    code, out, _ = run("check-cover", finished, "--verify-solutions", "--timeout", "0.001", cwd=finished.parent)
    assert code == 3 and "timed out on these events: " in out


def test_check_cover_finds_an_altered_counterexample(finished, tmp_path):
    event = next(e for e in store.read_run(finished)[1] if e.kind == store.COUNTEREXAMPLE)
    trace = json.loads(event.trace)
    del trace["digest"]
    trace["columns"]["S"][2] = "17/3"
    statement = "UPDATE events SET trace = ? WHERE number = ?"
    report = cover.check_cover(altered(finished, tmp_path / "run.db", statement, json.dumps(trace), event.number))
    assert not report.covered and f"event {event.number}, a counterexample: it breaks ccac." in report.faults[0]


def test_check_cover_finds_a_run_that_leaves_something_open(tmp_path):
    asked = query.load("g1_t5")
    part = store.Store(tmp_path / "run.db", asked)
    search = cegis.search(asked, store=part)
    for now in search:
        if now.iterations == 5:
            break
    search.close()
    part.close()
    report = cover.check_cover(tmp_path / "run.db")
    assert not report.covered and report.faults == () and "def rate(" in report.uncovered
    code, out, _ = run("check-cover", "run.db", "--json", cwd=tmp_path)
    assert code == 1 and lines(out)[0]["covered"] is False


def test_large_spaces_are_refuted(finished, monkeypatch, tmp_path):
    """The refutation and the enumeration agree, also where something is open."""
    monkeypatch.setattr(cover, "LARGEST_ENUMERATED", 0)
    report = cover.check_cover(finished)
    assert report.covered and report.method == "refutation" and report.steps > 0
    _, events = store.read_run(finished)
    last = max(event.number for event in events)
    file = altered(finished, tmp_path / "less.db", "DELETE FROM events WHERE number = ?", last)
    assert cover.check_cover(file).uncovered is not None


def test_an_unreachable_scheduler_is_one_message(tmp_path):
    pytest.importorskip("distributed")
    code, out, err = run("synth", "g1_t4", "--cluster", "tcp://127.0.0.1:1", "--json", cwd=tmp_path)
    assert (code, out) == (2, "")
    assert "cannot reach a Dask scheduler at tcp://127.0.0.1:1" in err and len(err.strip().splitlines()) == 1


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker(finished, tmp_path):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster:
        process = subprocess.Popen(
            command("synth", "g1_t5", "--run", "run.db", "--cluster", cluster.scheduler_address, "--json"),
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            text=True,
        )
        while not (tmp_path / "run.db").exists() or (tmp_path / "run.db").stat().st_size < 20_000:
            time.sleep(0.05)
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        out, _ = process.communicate(timeout=180)
    assert process.returncode == 0 and lines(out)[-1]["solutions"] == 4
    assert classes(tmp_path / "run.db") == classes(finished)


def test_beliefs_that_turn_false_leave_no_controller(tmp_path):
    """With D = 2 and a finite buffer, the upper bound on the link rate is unsound for any choice of rates."""
    network = '[network]\nmodel = "ccac"\nbuffer = "any"\nhorizon = 5\njitter = 2\n[template]\nname = "two_branches"\n'
    (tmp_path / "far.toml").write_text(network)
    code, out, _ = run("synth", "far.toml", "--run", "run.db", "--json", cwd=tmp_path)
    [summary] = lines(out)
    assert (code, summary["solutions"], summary["whatever_the_rates"]) == (1, 0, True)
    assert cover.check_cover(tmp_path / "run.db").covered
    code, out, _ = run("verify", "cc_qdel", "--query", "far.toml", "--json", cwd=tmp_path)
    [verdict] = lines(out)
    assert (code, verdict["verdict"], verdict["broken"]) == (1, "violated", ["beliefs stay true"])
    assert run("replay", verdict["trace"], cwd=tmp_path)[0] == 0
