"""`prove X --on …` without an expectation: the tightest bounds on a grid, each with its proof and the next bound."""

import json
from fractions import Fraction
from itertools import islice

import pytest

import ccmatic as cm
from support.cli import run
from support.json_schemas import validate

NETWORK = "ccac, buffer infinite, jitter 1 rtt"


@pytest.fixture(scope="module")
def queue():
    """The tightest bound of the queue of cc_qdel."""
    return next(iter(cm.find_bounds("cc_qdel", NETWORK, seconds=120, jobs=1)))


def test_the_tightest_bound_is_proved_and_the_next_one_is_refuted(queue):
    assert (queue.subject, queue.amount) == ("queue", 7)
    assert queue.proved.proved.invariant.fault() is None
    assert (queue.following.question.text, queue.following.verdict) == ("queue <= 13/2 bdp", "refuted")


def test_saved_bounds_are_accepted_and_refutations_replay(queue, tmp_path):
    proved, refuted = queue.save(tmp_path)
    assert cm.check(proved).verdict == "accepted"
    assert cm.replay(refuted).outcome.name == "BREAKS"


def test_a_search_begins_at_the_bounds_of_its_folder(queue, tmp_path):
    queue.save(tmp_path)
    tried = []
    again = next(iter(cm.find_bounds("cc_qdel", NETWORK, out=tmp_path, seconds=120, jobs=1, tells=tried.append)))
    assert again.amount == 7
    assert tried == ["queue <= 13/2 bdp", "a violation of queue <= 13/2 bdp"]


def test_a_search_does_not_trust_the_files_of_its_folder(queue, tmp_path):
    proved, _ = queue.save(tmp_path)
    forged = proved.with_name(proved.name.replace("7", "3", 1))
    data = json.loads(proved.read_text())
    data["claim"]["amount"] = "3"
    data["query"]["property"]["what"] = data["query"]["property"]["what"].replace("7", "3")
    forged.write_text(json.dumps(data))
    again = next(iter(cm.find_bounds("cc_qdel", NETWORK, out=tmp_path, seconds=120, jobs=1)))
    assert again.amount == 7


def test_bounds_are_drawn(queue, tmp_path):
    cm.draw_bounds("cc_qdel", [queue], tmp_path / "bounds.svg")
    assert "<svg" in (tmp_path / "bounds.svg").read_text()


@pytest.mark.slow
def test_prove_prints_and_draws_the_front(tmp_path):
    code, out, _ = run("prove", "cc_qdel", "--on", NETWORK, "--timeout", "120", "--json", cwd=tmp_path)
    *lines, last = map(json.loads, out.splitlines())
    assert code == 0 and last["proved"] == 6
    validate(lines[0], "BoundLine")
    validate(last, "BoundsLine")
    assert (tmp_path / last["figure"]).exists()
    shares = [Fraction(line["proved"].split()[2]) for line in lines[1:]]
    assert shares == sorted(shares) and shares[1] >= Fraction(3, 4)
    assert all(run("check", line["result"], cwd=tmp_path)[0] == 0 for line in lines)


def test_a_network_without_a_transition_system_is_refused(tmp_path):
    code, _, err = run("prove", "aimd", "--on", "ccac, buffer 1 bdp, outage 2 rtt", cwd=tmp_path)
    assert code == 2 and "has no transition system" in err


def test_the_bounds_of_a_budget_of_nothing_are_refused():
    with pytest.raises(cm.InputError, match="the budget is 0 s; expected more"):
        [*islice(cm.find_bounds("cc_qdel", NETWORK, seconds=0), 1)]
