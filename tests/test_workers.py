"""Work side by side: the same results as by one worker, in the same order."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Event

import pytest

import ccmatic as cm
from ccmatic.base import Disagreement, InputError, OutOfTime, last_good, last_good_at_once
from ccmatic.verification import Judge, Unsound, judging
from ccmatic.workers import Team, team
from support.cli import lines, run

NETWORK = ["--model", "ccac", "--buffer", "infinite", "--horizon", "7"]
NAMES = ["always_double", "cc_qdel", "always_half"]


@pytest.fixture
def threads(monkeypatch):
    """Threads in place of processes, which take seconds to begin; of a cluster as well."""
    monkeypatch.setattr(team, "_processes", ThreadPoolExecutor)
    monkeypatch.setattr(team, "_cluster", lambda address: ThreadPoolExecutor(4))


def square(number, wait=None):
    if wait:
        wait.wait(10)
    if number < 0:
        raise InputError(f"{number} is below 0")
    return number**2


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
    Unsound("fails"),
], ids=lambda error: type(error).__name__)  # fmt: skip
def test_what_a_worker_raises_travels(error):
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


def verified(tmp_path, *options):
    code, out, err = run("verify", *NAMES, *NETWORK, "--json", *options, cwd=tmp_path)
    assert err == ""
    return code, [(line["controller"], line["verdict"]) for line in lines(out)], lines(out)


@pytest.mark.parametrize("options", [["--jobs", "2"], ["--cluster", "tcp://host:1"]], ids=" ".join)
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


def test_verify_on_processes(tmp_path):
    """Whose controllers and formulas stay there."""
    code, verdicts, _ = verified(tmp_path, "--jobs", "2")
    assert code == 1 and [name for name, _ in verdicts] == NAMES


def test_a_trace_of_a_worker_is_replayed(threads, monkeypatch):
    """One that does not break what it is said to break is no answer."""
    query = cm.Query(cm.Network("ccac", "infinite", 5))
    judgement = Judge(query).judge(query.controller("always_double"))
    others = dict(judgement.trace.columns, A=judgement.trace.columns["S"])
    forged = cm.verify("always_double", query)
    monkeypatch.setattr(judging, "_judge", lambda *_: forged)
    with Team(2) as workers:
        [again] = judging.judge_each(workers, [(query, judgement.controller)])
        assert again.report is not None and again.trace == forged.trace
        object.__setattr__(forged, "trace", type(forged.trace)(**{**vars(forged.trace), "columns": others}))
        with pytest.raises(Unsound, match="always_double"):
            [*judging.judge_each(workers, [(query, judgement.controller)])]


@pytest.mark.parametrize("jobs", [2, 3])
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
