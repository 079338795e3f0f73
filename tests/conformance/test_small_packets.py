"""What commands ask of senders by a window is about packets smaller than C·R_m/5, unless a person says otherwise."""

import json
from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Judge, Outcome
from ccmatic.questions.query import from_record
from support.cli import run

NETWORK = cm.Network("ccac2021", "1", 4)
LARGE = {"what": "alpha >= 1/5"}


def test_larger_packets_are_not_looked_at():
    assert cm.verify("constant_window", cm.Query(NETWORK, "avoids", **LARGE)).holds
    network = ["--model", "ccac2021", "--buffer", "1", "--horizon", "4"]
    code, out, _ = run(
        "verify", "constant_window", *network, "--property", "avoids", "--threshold", "what=alpha >= 1/5"
    )
    assert code == 0 and "holds" in out
    found = cm.worst("constant_window", NETWORK, "alpha > x", resolution="1/10")
    assert (found.none, found.some) == (Fraction(1, 5), Fraction(1, 10))


def test_whoever_says_something_of_packets_is_heeded():
    asked = cm.Query(NETWORK, "avoids", **LARGE, given="alpha < 100")
    assert cm.verify("constant_window", asked).verdict == "violated"
    found = cm.worst("constant_window", NETWORK, "alpha > x", given="alpha <= 1", resolution="1/10")
    assert (found.none, found.some) == (1, Fraction(9, 10))


def test_the_bound_is_in_the_record_and_no_law():
    """So a trace that was saved before it keeps its query: it replays with packets of any size."""
    query = cm.Query(NETWORK, "avoids", **LARGE)
    bounded = query.of_small_packets()
    assert bounded.property.given == "alpha < 1/5 * C * R" and bounded.of_small_packets().record() == bounded.record()
    assert from_record(bounded.record()).property == bounded.property
    before = Judge(query).judge(query.controller("constant_window")).trace
    assert before.constants["MSS"] >= Fraction(1, 5) and cm.replay(before).outcome is Outcome.BREAKS
    assert before.query["property"]["given"] == ""


def test_longer_round_trips_bound_packets_by_c_times_r_m(tmp_path):
    (tmp_path / "slow.py").write_text("from ccmatic.models.ccac2021 import CCAC2021\n\nMODEL = CCAC2021(R=2)\n")
    found = cm.worst("constant_window", cm.Network(str(tmp_path / "slow.py"), "1", 5), "alpha > x", resolution="1/10")
    assert (found.none, found.some) == (Fraction(2, 5), Fraction(3, 10))


def test_other_networks_bound_packets_by_law():
    query = cm.Query(cm.Network("ccac", "1", 4), "avoids", **LARGE)
    assert query.of_small_packets().record() == query.record()


def test_an_answer_says_what_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["constant_window", "--model", "ccac2021", "--buffer", "1", "--horizon", "4"]
    property_ = ["--property", "avoids", "--threshold", "what=alpha >= 1/5"]
    for command in (["verify", *asked, *property_], ["worst", *asked, "--of", "queue", "--resolution", "1"]):
        _, out, _ = run(*command)
        assert "left out: packets: MSS is C·R_m/5 or more" in out
        _, out, _ = run(*command, "--json")
        left = json.loads(out.splitlines()[-1])["left_out"]
        assert {"name": "packets", "reason": "MSS is C·R_m/5 or more"} in left


def test_a_condition_that_only_mentions_packets_bounds_none():
    asked = cm.Query(NETWORK, "avoids", **LARGE, given="c_f[0][0] > 4 * alpha; And(alpha < 1, L[0] == 0)")
    assert asked.of_small_packets().property.given.endswith("; alpha < 1/5 * C * R")


@pytest.mark.parametrize("given", ["alpha < 1/4", "L[0] == 0; alpha == 1", "0 < alpha < 2"])
def test_nothing_is_said_of_packets_that_a_person_chose(given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = ["worst", "constant_window", "--model", "ccac2021", "--buffer", "1", "--horizon", "4", "--given", given]
    _, out, _ = run(*asked, "--of", "queue", "--resolution", "1")
    assert "MSS is C·R_m/5" not in out
