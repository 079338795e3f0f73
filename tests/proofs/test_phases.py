"""Proofs about first steps that follow each other: they join only if the end of one is a start of the next."""

import json

import pytest

import ccmatic as cm
from ccmatic.logic import formula, isolated
from ccmatic.logic.solving import SolverOptions
from ccmatic.proving.invariants.first_steps import failures
from ccmatic.proving.invariants.phases import ExactWindow, Phases
from support.cli import run
from support.first_steps import BIG, BY_STATE, HALVES, NETWORK, SMALL, TENTH, proved

#: A controller that adds a packet for three steps only, by the time since the start.
BY_TIME = """\
window: bytes = above(0)

def update(window, time, MSS, R_m):
    window = window + MSS if time <= 3 * R_m else MSS

def send(window, line_rate):
    return window, line_rate
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """Return a function that returns the file of a controller's text."""

    def write(text):
        file = tmp_path_factory.mktemp("controllers") / "sender.py"
        file.write_text(text)
        return file

    return write


@pytest.fixture(scope="module")
def shrinks(source):
    """The proof that a window of at most 8 BDP becomes one of at most 4 BDP."""
    return proved(source(HALVES), f"{SMALL} within 6 rtt", BIG)


@pytest.fixture(scope="module")
def converges(source):
    """The proof that the controller converges from a window of at most 4 BDP."""
    return proved(source(HALVES), "converged within 16 rtt", SMALL)


def test_two_phases_join(shrinks, converges, source, tmp_path):
    phases = Phases.of(shrinks.first, converges.first)
    assert phases.claim == "converged within 22 rtt" and f"from {BIG}" in phases.executions
    assert phases.fault() is None
    assert proved(source(HALVES), phases.claim, BIG)
    files = [each.save(tmp_path) for each in (shrinks, converges)]
    checked = cm.check(*files)
    assert checked.verdict == "accepted" and phases.claim in checked.findings[-1].about
    assert repr(checked) == f"<check of {files[0]} {files[1]}: accepted>" and str(files[1]) in checked._repr_html_()
    code, out, _ = run("check", *files, "--json", cwd=tmp_path)
    lines = [json.loads(line) for line in out.splitlines()]
    assert code == 0 and phases.claim in lines[-2]["about"] and lines[-1]["accepted"]


def test_three_phases_join(shrinks, converges, tmp_path):
    checked = cm.check(*(each.save(tmp_path) for each in (shrinks, converges, shrinks)))
    assert checked.verdict == "accepted"
    assert f"from {BIG}" in checked.findings[-1].about and f"{SMALL} within 28 rtt" in checked.findings[-1].about


def test_a_forged_phase_is_refused(shrinks, converges, tmp_path):
    files = [each.save(tmp_path) for each in (shrinks, converges)]
    data = json.loads(files[0].read_text())
    data["query"]["property"]["what"] = f"{SMALL} within 2 rtt"
    files[0].write_text(json.dumps(data))
    assert cm.check(*files).verdict == "rejected"


def test_the_end_of_a_phase_has_to_imply_the_start_of_the_next(shrinks, source):
    tiny = "queue <= 2 bdp and window <= 1/10 bdp"
    later = proved(source(HALVES), "window <= 1/5 bdp within 1 rtt", tiny)
    fault = Phases.of(shrinks.first, later.first).fault()
    assert fault == f"'{SMALL} within 6 rtt' does not imply the start of the next proof, '{tiny}'"


def test_other_controllers_and_networks_do_not_join(shrinks, source):
    slower = source(HALVES.replace("window + MSS", "window + MSS / 2"))
    others = {
        "different controllers": proved(slower, f"{SMALL} within 6 rtt", BIG),
        "the buffer is '1'": proved(source(HALVES), "window <= 4 bdp within 1 rtt", SMALL, NETWORK.format(12, 2)),
        "the given is": proved(source(HALVES), "window <= 4 bdp within 1 rtt", SMALL, NETWORK.format(24, 1)),
    }
    for why, other in others.items():
        with pytest.raises(cm.InputError, match=why):
            Phases.of(shrinks.first, other.first)


@pytest.mark.parametrize("text, why", [(BY_TIME, "reads `time` since the start"), (BY_STATE, "waited_is_as_at_first")])
def test_a_controller_that_knows_the_start_does_not_join(text, why, source):
    """Both claims are true, and the joined one is false, because the window grows for three steps only."""
    sender = source(text)
    first = proved(sender, "window >= 3 packets within 3 rtt", "window >= 1 packet")
    second = proved(sender, "window >= 5 packets within 3 rtt", "window >= 3 packets")
    phases = Phases.of(first.first, second.first)
    assert why in phases.fault()
    assert cm.prove_by_invariant(sender, TENTH, phases.claim, start="window >= 1 packet").verdict == "refuted"


def test_a_belief_that_keeps_all_samples_does_not_join():
    network = "ccac, buffer infinite, jitter 1 rtt"
    first = proved("cc_qdel", "C_L >= 50% within 7 rtt", "queue <= 1 bdp and C_L >= 40%", network)
    second = proved("cc_qdel", "C_L >= 50% within 2 rtt", "C_L >= 50%", network)
    assert "may break a law of their proof" in Phases.of(first.first, second.first).fault()


def test_other_proofs_have_no_phases(shrinks, tmp_path):
    bound = cm.prove_by_invariant("cc_qdel", "ccac, buffer infinite, jitter 1 rtt", "queue <= 7 bdp").save(tmp_path)
    with pytest.raises(cm.InputError, match="expected a first-steps"):
        cm.check(bound, shrinks.save(tmp_path))


@isolated
def test_the_laws_of_a_phase_are_those_of_its_certificates(converges):
    proof = converges.first
    whole = ExactWindow(proof.query, proof.controller, SolverOptions())
    [conditions] = failures(proof.query, proof.controller)
    parts = {part for each in conditions for part in conjuncts(formula(each))}
    own = {part for each in (*whole.laws, whole) for part in conjuncts(formula(getattr(each, "formula", whole.fails)))}
    assert own == parts and len(own) > 100


def conjuncts(node):
    return [part for each in node.args() for part in conjuncts(each)] if node.is_and() else [node]
