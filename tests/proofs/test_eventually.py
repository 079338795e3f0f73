"""A proof about first steps and an invariant: the claim holds for ever if the first steps lead into the invariant."""

import json
from dataclasses import replace

import pytest

import ccmatic as cm
from ccmatic.logic import isolated, some
from ccmatic.logic.solving import SAT, UNSAT, SolverOptions
from ccmatic.proving.invariants.forms import answer
from ccmatic.proving.invariants.phases import Eventually, ExactWindow, Phases
from support.cli import run
from support.first_steps import BIG, BY_STATE, HALVES, NETWORK, SMALL, TENTH, proved

LINK = "ccac, buffer infinite, jitter 1 rtt"


@pytest.fixture(scope="module")
def sender(tmp_path_factory):
    file = tmp_path_factory.mktemp("controllers") / "halves.py"
    file.write_text(HALVES)
    return file


@pytest.fixture(scope="module")
def shrinks(sender):
    return proved(sender, f"{SMALL} within 6 rtt", BIG)


@pytest.fixture(scope="module")
def stays(sender):
    return proved(sender, "window <= 4 bdp", "converged")


def joined(first, second):
    return Eventually.of(first.first, second.proved.invariant)


def test_first_steps_lead_into_an_invariant(shrinks, stays, tmp_path):
    files = [each.save(tmp_path) for each in (shrinks, stays)]
    checked = cm.check(*files)
    claim = "window <= 4, for ever from some step within 6 rtt on"
    assert checked.verdict == "accepted" and claim in checked.findings[-1].about
    assert f"from {BIG}" in checked.findings[-1].about
    code, out, _ = run("check", *files, "--json", cwd=tmp_path)
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and claim in lines[-2]["about"] and lines[-1]["accepted"]


@isolated
def test_the_laws_of_longer_executions_imply_the_joined_claim(shrinks, stays):
    """From the last possible step on, all windows are at most 4 BDP; before it, larger ones exist."""
    query = shrinks.first.query
    whole = ExactWindow(query.on(horizon=16), shrinks.first.controller, SolverOptions())
    larger = [whole.x.flows[0].cwnd[t] > 4 for t in range(16)]
    assert joined(shrinks, stays).fault() is None
    assert answer(whole.checker, whole.start, some(larger[7:])) == UNSAT
    assert answer(whole.checker, whole.start, some(larger[:3])) == SAT


def test_phases_lead_into_an_invariant(shrinks, stays, sender, tmp_path):
    huge = "queue <= 2 bdp and window <= 16 bdp"
    before = proved(sender, f"{BIG} within 6 rtt", huge)
    checked = cm.check(*(each.save(tmp_path) for each in (before, shrinks, stays)))
    assert checked.verdict == "accepted"
    assert f"from {huge}" in checked.findings[-1].about and "within 12 rtt on" in checked.findings[-1].about
    assert isinstance(Eventually.of(Phases.of(before.first, shrinks.first), stays.proved.invariant).first, Phases)


@pytest.mark.parametrize(
    "expect, start",
    [
        ("C_L >= 50% within 2 rtt", "queue <= 2 bdp and C_L >= 50%"),
        pytest.param("C_L >= 50% within 7 rtt", "queue <= 1 bdp and C_L >= 40%", marks=pytest.mark.slow),
    ],
)
def test_a_controller_with_beliefs_keeps_its_bounds_for_ever(expect, start):
    """The belief has samples from before the end of the first proof, so proofs about first steps do not join."""
    bounded = proved("cc_qdel", "queue <= 7 bdp", "informed", LINK)
    assert joined(proved("cc_qdel", expect, start, LINK), bounded).fault() is None


def test_first_steps_that_end_elsewhere_are_refused(stays, sender):
    still_big = proved(sender, f"{BIG} within 1 rtt", BIG)
    assert "may be outside the invariant at each of these steps" in joined(still_big, stays).fault()


def test_a_weak_belief_is_no_start_of_a_utilisation():
    weak = proved("cc_qdel", "C_L >= 20% within 1 rtt", "queue <= 1 bdp and C_L >= 20%", LINK)
    used = proved("cc_qdel", "utilisation >= 1/2", "informed", LINK)
    assert "may be outside the invariant" in joined(weak, used).fault()


def test_an_invariant_without_one_clause_is_refused(shrinks, stays, tmp_path):
    file = stays.save(tmp_path)
    data = json.loads(file.read_text())
    del data["clauses"][1], data["certificates"][2]
    file.write_text(json.dumps(data))
    checked = cm.check(shrinks.save(tmp_path), file)
    assert checked.verdict == "rejected" and checked.findings[-1].fault


def test_certificates_of_other_steps_are_refused(shrinks, stays):
    """The joined claim itself checks the steps of executions from the start of the first proof."""
    invariant = stays.proved.invariant
    one = invariant.certificates[-1]
    forged = replace(invariant, certificates=[one] * len(invariant.certificates))
    assert "from the start of the first proof, stays inside" in Eventually.of(shrinks.first, forged).fault()
    fewer = replace(invariant, certificates=invariant.certificates[1:])
    assert "certificates; expected" in Eventually.of(shrinks.first, fewer).fault()


def test_another_network_is_refused(shrinks, sender):
    other = proved(sender, "window <= 5 bdp", "converged", NETWORK.format(12, 2))
    with pytest.raises(cm.InputError, match="the buffer is '1'"):
        joined(shrinks, other)


def test_a_window_that_grows_at_first_is_outside_the_invariant_of_small_windows(tmp_path):
    """Both proofs are about executions from their starts, and a large window still grows for three steps."""
    file = tmp_path / "sender.py"
    file.write_text(BY_STATE)
    first = proved(file, "window >= 3 packets within 3 rtt", "window >= 1 packet")
    decided = cm.prove_by_invariant(file, TENTH, "window <= 1/2 bdp", start="window <= 1 packet")
    assert decided.verdict == "proved", decided.why
    assert "may be outside the invariant" in joined(first, decided).fault()
