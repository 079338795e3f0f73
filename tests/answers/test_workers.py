"""Work side by side: the same results as by one worker, in the same order."""

import multiprocessing
import pickle
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from threading import Event

import pytest

import ccmatic as cm
from ccmatic import proofs
from ccmatic.answers.verification import Judge, Unsound
from ccmatic.answers.verification import judgement as judgements
from ccmatic.answers.worst_case import NoExecution
from ccmatic.base import Disagreement, InputError, OutOfTime, TooShort, last_good, last_good_at_once, workers
from ccmatic.base.workers import Team
from ccmatic.proving import NoValue
from support import ROOT
from support.cli import lines, run
from support.sampling import each_nth

NETWORK = ["--model", "ccac", "--buffer", "infinite", "--horizon", "7"]
NAMES = ["always_double", "cc_qdel", "always_half"]


@pytest.fixture
def threads(monkeypatch):
    """Threads in place of processes, which take seconds to begin; of a cluster as well."""
    monkeypatch.setattr(workers, "_processes", ThreadPoolExecutor)
    monkeypatch.setattr(workers, "_cluster", lambda address: (ThreadPoolExecutor(4), None))


def square(number, wait=None):
    if wait:
        wait.wait(10)
    if number < 0:
        raise InputError(f"{number} is below 0")
    return number**2


def test_a_closed_team_leaves_no_thread_and_no_process():
    """A thread that still closes its pipe when Python exits would print an ignored error."""
    before = set(threading.enumerate())
    with Team(2) as workers:
        workers.submit("task", abs, -3)
        assert [*workers.results()] == [("task", 3)]
        workers.submit("late", time.sleep, 60)
    assert set(threading.enumerate()) <= before
    assert not multiprocessing.active_children()


def test_a_closed_team_leaves_its_cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster:
        before = set(cluster.scheduler.clients)
        with Team(cluster=cluster.scheduler_address) as workers:
            workers.submit("task", abs, -3)
            assert [*workers.results()] == [("task", 3)]
            assert set(cluster.scheduler.clients) > before
        assert set(cluster.scheduler.clients) == before


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_results_are_in_order(threads, jobs):
    with Team(jobs) as workers:
        assert [*workers.each(square, [(number,) for number in range(20)])] == [n**2 for n in range(20)]
        assert [*workers.each(square, [])] == []


def test_a_result_waits_for_those_before_it_but_is_heard_at_once(threads):
    second, heard = Event(), []

    def hear(result):
        heard.append(result)
        second.set()

    with Team(2) as workers:
        assert [*workers.each(square, [(1, second), (2,)], hear)] == [1, 4]
    assert heard == [4, 1]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_is_in_the_place_of_its_result(threads, jobs):
    found = []
    with Team(jobs) as workers, pytest.raises(InputError, match="-2 is below 0"):
        found.extend([*workers.each(square, [(1,), (-2,), (3,)])])
    with Team(jobs) as workers:
        results = workers.each(square, [(1,), (-2,), (3,)])
        assert next(results) == 1


def test_processes_get_as_many_tasks_as_there_are_and_a_cluster_all(threads):
    for jobs, cluster, expected in ((2, None, 2), (1, "tcp://host:1", 5)):
        begun, wait = [], Event()
        with Team(jobs, cluster) as workers:
            most = []
            submit = workers.submit
            workers.submit = lambda *task: (begun.append(task), submit(*task), most.append(len(workers)))  # noqa: B023
            wait.set()
            assert [*workers.each(square, [(n, wait) for n in range(5)])] == [0, 1, 4, 9, 16]
            assert max(most) <= expected and len(begun) == 5


@pytest.mark.parametrize("error", [
    InputError("found", "file.py", 3), Disagreement({"z3": "sat", "cvc5": "unsat"}, "(check-sat)"), OutOfTime("late"),
    Unsound("fails"), TooShort("too short", 7, "file.py"), NoValue("none", "rise", None), NoExecution("none"),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_what_a_worker_raises_travels(error):
    """An exception that cannot travel ends the process, which is then reported as out of memory."""
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def verified(tmp_path, *options):
    code, out, err = run("verify", *NAMES, *NETWORK, "--json", *options, cwd=tmp_path)
    assert err == ""
    return code, [(line["controller"], line["verdict"]) for line in lines(out)], lines(out)


@pytest.mark.parametrize("options", each_nth(2, [["--jobs", "2"], ["--cluster", "tcp://host:1"]]), ids=" ".join)
def test_verify_side_by_side(threads, options, tmp_path):
    code, verdicts, answers = verified(tmp_path, *options)
    assert (code, verdicts) == verified(tmp_path)[:2]
    assert [name for name, _ in verdicts] == NAMES and {"holds", "violated"} == {verdict for _, verdict in verdicts}
    for answer in answers:
        if answer["verdict"] == "violated":
            assert answer["explanation"] and run("replay", answer["trace"], cwd=tmp_path)[0] == 0


def test_questions_side_by_side(threads, tmp_path):
    asked = ["verify", "cc_qdel", "--on", "ccac, buffer 1 bdp, jitter 1 rtt", "--json"]
    asked += ["--expect", "queue <= 4 bdp", "--expect", "queue <= 1 bdp"]
    code, out, _ = run(*asked, "--jobs", "2", cwd=tmp_path)
    told = [(line["expect"], line["verdict"]) for line in lines(out)]
    assert (code, told) == (1, [("queue <= 4 bdp", "holds"), ("queue <= 1 bdp", "violated")])


def worst(tmp_path, *options):
    asked = ["worst", "cc_qdel", "--on", "ccac, buffer 1 bdp, jitter 1 rtt", "--horizon", "5", "--json"]
    asked += ["--expect", "queue <= 4 bdp", "--expect", "delay <= 1 rtt", "--resolution", "1"]
    code, out, err = run(*asked, *options, cwd=tmp_path)
    assert err == ""
    return code, lines(out)


@pytest.mark.parametrize("options", each_nth(2, [["--jobs", "2"], ["--cluster", "tcp://host:1"]]), ids=" ".join)
def test_worst_side_by_side(threads, options, tmp_path):
    """Each expectation is one worker's."""
    code, answers = worst(tmp_path, *options)
    _, alone = worst(tmp_path)
    compared = ("controller", "expect", "verdict", "met", "none", "some", "start", "where")
    assert [[each[name] for name in compared] for each in answers] == [
        [each[name] for name in compared] for each in alone
    ]
    assert (code, [each["met"] for each in answers]) == (1, ["holds", "violated"])
    for answer in answers:
        assert answer.keys() == alone[0].keys() and answer["explanation"]
        assert run("replay", answer["trace"], cwd=tmp_path)[0] == 0


def test_a_worst_case_that_a_worker_only_says_is_none(threads, monkeypatch, tmp_path):
    """Its trace is replayed by the process that prints it."""
    question = cm.ask("cc_qdel", "ccac, buffer 1 bdp, jitter 1 rtt", "delay <= 1 rtt", horizon=5)
    [found] = cm.worst_all([question], at=1)
    others = dict(found.trace.columns, A=found.trace.columns["S"])
    forged = replace(found, trace=replace(found.trace, columns=others), report=None)
    monkeypatch.setattr("ccmatic.answers.worst_case.searches._search_there", lambda *_: forged)
    with pytest.raises(Unsound, match="cc_qdel"):
        [*cm.worst_all([question], at=1, jobs=2, cluster="tcp://host:1")]


def test_a_question_without_executions_is_named_by_workers_too(threads):
    asked = [
        cm.ask("cc_qdel", "ccac, buffer 1 bdp", "queue <= 2 bdp", start=f"queue > {most} bdp", horizon=3)
        for most in (1, 100)
    ]
    found = cm.worst_all(asked, at=2, jobs=2)
    assert next(found).controller.name == "cc_qdel"
    with pytest.raises(InputError, match="no execution of cc_qdel on ccac, .* from queue > 100 bdp, so"):
        next(found)


#: Its range is none where the delay is 0, which a solver finds once it is asked.
NO_RANGE = """window: bytes = above(0)


def update(window, delay, R_m, MSS):
    window = bounded(cbrt(delay / R_m) * MSS, 2 * MSS, 3 * MSS)


def send(window):
    return window
"""


@pytest.mark.parametrize("command", ["verify", "worst"])
@pytest.mark.parametrize("expected", ["loss <= 1 bdp", "share >= 1% beside constant_window"])
def test_a_worker_names_the_file_of_a_fault(threads, command, expected, tmp_path):
    """It has the controller as text, without a file."""
    (tmp_path / "mine.py").write_text(NO_RANGE)
    asked = [command, "mine.py", "--on", "ccac, buffer 1 bdp", "--expect", "queue <= 2 bdp", "--expect", expected]
    alone = run(*asked, cwd=tmp_path)
    assert alone[0] == 2 and alone[2].startswith("ccmatic: mine.py:5: the range of `window`")
    assert run(*asked, "--jobs", "2", cwd=tmp_path) == alone


def proved(folder, *options):
    """What `prove` says of two controllers, without the folder and the seconds."""
    code, out, err = run("prove", "cc_qdel", "always_half", "--horizon", "3", "--out", folder, *options)
    assert err == ""
    return code, re.sub(r'"seconds": ?[\d.]+', "", out.replace(str(folder), ""))


@pytest.mark.parametrize("as_json", each_nth(2, [((),), (("--json",),)]), ids=["text", "json"])
@pytest.mark.parametrize("options", each_nth(2, [["--cluster", "tcp://host:1"], ["--jobs", "2"]]), ids=" ".join)
def test_prove_side_by_side(threads, options, as_json, tmp_path, monkeypatch):
    monkeypatch.setattr(proofs, "SHAPES", ("link_rate",))
    code, told = proved(tmp_path / "together", *options, *as_json)
    assert (code, told) == proved(tmp_path / "alone", *as_json)
    assert code == 1 and (told.count('"controller":') == 9 if as_json else told.startswith("cc_qdel:\nby the shape"))


def test_lines_of_one_controller_do_not_name_it(tmp_path, monkeypatch):
    monkeypatch.setattr(proofs, "SHAPES", ("link_rate",))
    _, out, _ = run("prove", "always_half", "--horizon", "3", "--out", tmp_path, "--jobs", "2", "--json")
    assert len(lines(out)) == 5 and not any("controller" in line for line in lines(out))


@pytest.mark.slow
def test_what_ends_one_proof_comes_after_its_lines(threads, tmp_path):
    """Each of the lines before it, and none of the next controller."""
    asked = ["prove", "always_half", "cc_qdel", "--proof", ROOT / "tests/proofs/tiny.py", "--out"]
    code, out, err = run(*asked, tmp_path / "together", "--jobs", "2")
    alone = run(*asked, tmp_path / "alone")
    assert (code, out, err.replace("together", "alone")) == alone
    assert code == 2 and "no value of 'rise'" in err and "utilisation  " in out and "cc_qdel" not in out


def test_two_proofs_are_not_written_to_one_file(tmp_path):
    code, _, err = run("prove", "cc_qdel", "other/cc_qdel.py", "--jobs", "2")
    assert code == 2 and "two controllers have the name cc_qdel" in err


@pytest.mark.parametrize("command", each_nth(2, ["verify", "worst"]))
def test_on_processes(command, tmp_path):
    """Their controllers and formulas stay there."""
    if command == "verify":
        code, verdicts, _ = verified(tmp_path, "--jobs", "2")
        assert code == 1 and [name for name, _ in verdicts] == NAMES
    else:
        code, answers = worst(tmp_path, "--jobs", "2")
        assert (code, [each["met"] for each in answers]) == (1, ["holds", "violated"])


def test_a_trace_of_a_worker_is_replayed(threads, monkeypatch):
    """A trace that does not violate its property is no answer."""
    query = cm.Query(cm.Network("ccac", "infinite", 5))
    judgement = Judge(query).judge(query.controller("always_double"))
    others = dict(judgement.trace.columns, A=judgement.trace.columns["S"])
    forged = cm.verify("always_double", query)
    monkeypatch.setattr(judgements, "_judge", lambda *_: forged)
    with Team(2) as workers:
        [again] = judgements.judge_each(workers, [(query, judgement.controller)])
        assert again.report is not None and again.trace == forged.trace
        object.__setattr__(forged, "trace", type(forged.trace)(**{**vars(forged.trace), "columns": others}))
        with pytest.raises(Unsound, match="always_double"):
            [*judgements.judge_each(workers, [(query, judgement.controller)])]


@pytest.mark.parametrize("jobs", each_nth(2, [2, 3]))
def test_widen_side_by_side(threads, jobs):
    query = cm.Query(cm.Network("ideal", "infinite", 4), utilisation="1/2")
    alone = cm.widen("cc_qdel", query, step="1/4")
    together = cm.widen("cc_qdel", query, step="1/4", jobs=jobs)
    assert together.maximal == alone.maximal != () and together.undecided == alone.undecided == 0


@pytest.mark.parametrize("at_once", [1, 2, 3, 7])
def test_an_edge_is_found_by_several_answers_at_once(at_once):
    for count in range(12):
        for edge in range(-1, count):
            rounds = []

            def are_good(indices, edge=edge, rounds=rounds):
                rounds.append(indices)
                return [index <= edge for index in indices]

            assert last_good_at_once(count, are_good, at_once) == edge == last_good(count, lambda i, e=edge: i <= e)
            assert all(len(indices) <= at_once for indices in rounds)
            assert all(a < b for indices in rounds for a, b in pairwise(indices))
