"""Scenarios: their files, refused files, and the verdicts on runs."""

import re
from dataclasses import replace as replaced
from fractions import Fraction
from functools import cache

import msgspec
import numpy as np
import pytest

from benchmarks.lib import played
from benchmarks.lib import scenario_files as scenarios
from benchmarks.lib.scenario_files import Expected, Flow, Offer
from benchmarks.studies import scenarios as study
from ccmatic.base import InputError
from ccmatic.judging.collected import SECTIONS
from support.machine import needs_compiler

ALL = scenarios.load_all()
WHOLE = """
[one]
source = "a text"
says = "It works."
on = "24 mbit, rtt 40 ms, buffer 1 bdp"
seconds = 2
expect = [{ what = "utilisation >= 80%", since = 1 }]
"""


def changed(name, **fields):
    return msgspec.structs.replace(ALL[name], **fields)


@cache
def run(name):
    return played.simulated(ALL[name], "reno")


def test_every_test_case_of_the_draft_has_a_scenario():
    of_draft = [each.source for each in ALL.values() if each.source.startswith("BBR draft, ")]
    assert len(of_draft) == len(set(of_draft)) == 22


def test_every_section_of_the_rfc_has_a_scenario():
    numbers = {match[1] for each in ALL.values() if (match := re.match(r"RFC 9743, ([\d.]+) ", each.source))}
    assert numbers == {section.number for section in SECTIONS}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("seconds = 2", "seconds = 2\nspeed = 3", ":7: the scenario one: unknown key 'speed'"),
        ("since = 1", "before = 1", ":7: the scenario one, expect[0]: unknown key 'before'"),
        ("seconds = 2", 'seconds = "2"', ":6: the scenario one, seconds: found 2; expected a number"),
        (' buffer 1 bdp"', ' buffer 1 bdb"', "the buffer is '1 bdb'"),
        ("utilisation >=", "utilization >=", ":7: 'utilization >= 80%' is about utilization"),
        ("since = 1", "since = 3", ":7: 'utilisation >= 80%' is expected outside of the run of 2 s"),
        ("expect = [", 'not_played = "why"\nexpect = [', "the scenario one has both 'on' and 'not_played'"),
        ("[one]", "one = 3\n[two]", ":2: 'one' is a value; expected a section [one]"),
        ("24 mbit, rtt 40 ms, ", "ccac, ", "expected a path, such as"),
        ("[one]", "[one", "not TOML"),
    ],
)
def test_a_mistake_in_a_file_gets_one_message(before, after, expected, tmp_path):
    assert before in WHOLE
    file = tmp_path / "mine.toml"
    file.write_text(WHOLE.replace(before, after))
    with pytest.raises(InputError) as raised:
        scenarios.load(file)
    message = str(raised.value)
    assert message.startswith(str(file)) and expected in message and "\n" not in message


def test_the_unchanged_file_is_read(tmp_path):
    (tmp_path / "mine.toml").write_text(WHOLE)
    assert list(scenarios.load_all(tmp_path)) == ["one"]
    (tmp_path / "other.toml").write_text(WHOLE)
    with pytest.raises(InputError, match="the scenario one exists twice"):
        scenarios.load_all(tmp_path)


def test_an_unknown_scenario_is_refused():
    with pytest.raises(InputError, match="there is no scenario 'tail_dro'; did you mean 'tail_drop'?"):
        scenarios.chosen(["tail_dro"])


@needs_compiler
@pytest.mark.parametrize(("name", "sender"), [("startup_bandwidth_plateau", "bbr_v1"), ("tail_drop", "reno")])
def test_a_scenario_of_each_family_is_met(name, sender):
    assert played.play(name, ALL[name], "simulated", sender).verdict == "met"


@needs_compiler
def test_a_planted_wrong_expectation_is_not_met():
    wrong = Expected("utilisation <= 50%", since=3)
    planted = changed("tail_drop", expect=[*ALL["tail_drop"].expect, wrong])
    result = played.play("planted", planted, "simulated", "reno")
    assert result.verdict == "not met"
    assert [each.verdict for each in result.expectations] == ["met", "met", "not met"]
    opposite = changed("tail_drop", expect=[msgspec.structs.replace(wrong, broken=True)])
    assert played.play("opposite", opposite, "simulated", "reno").verdict == "met"


@needs_compiler
def test_a_wrong_state_is_not_met():
    stalled = Expected("stalled <= 2 rtt", since=2, state_of="bbr_v1")
    planted = changed("startup_bandwidth_plateau", expect=[stalled])
    assert played.play("planted", planted, "simulated", "bbr_v1").verdict == "not met"


@needs_compiler
def test_a_scenario_that_did_not_take_place_is_not_met():
    planted = changed("tail_drop", premises=[Expected("loss > 50%")])
    assert played.play("planted", planted, "simulated", "reno").verdict == "not reached"


def test_a_scenario_that_no_world_plays_has_a_reason():
    result = played.play("multipath", ALL["multipath"], "simulated", "reno")
    assert (result.verdict, result.reason) == ("not played", "each flow here uses one path")


@needs_compiler
def test_a_path_that_the_simulator_does_not_play_has_a_reason():
    result = played.play("sub_packet_bdp", ALL["sub_packet_bdp"], "simulated", "reno")
    assert result.verdict == "not played" and "expected a whole number" in result.reason


@needs_compiler
def test_flows_send_between_their_start_and_their_stop():
    """The short flow of 4 to 6 s."""
    log = run("short_flow").log
    times = log["arrival"][log["flow"] == 1] / 1e9
    assert len(times) > 100 and 4 <= times.min() < 4.2 and times.max() <= 6.04
    assert (log["flow"] == 0).sum() > 10_000


@needs_compiler
def test_an_application_offers_at_its_rate():
    """A limited flow sends 2 Mbit/s until 5 s, and more later."""
    log = run("stays_in_startup_when_app_limited").log
    before = log["size"][(log["arrival"] > 1e9) & (log["arrival"] <= 5e9)].sum() * 8 / 4
    assert 1.9e6 < before <= 2.01e6
    assert log["size"][log["arrival"] > 5.5e9].sum() * 8 / 1.5 > 4e6


@needs_compiler
def test_the_link_changes_its_rate():
    """From 24 to 6 to 24 Mbit/s: the receivers get no more, and about as much."""
    log = run("onset_of_congestion").log
    for begin, end, most in ((3.4, 4, 24e6), (4.2, 6, 6e6), (9, 9.9, 24e6)):
        inside = (log["released"] > (begin + 0.04) * 1e9) & (log["released"] <= (end + 0.04) * 1e9)
        assert 0.75 * most < log["size"][inside].sum() * 8 / (end - begin) <= 1.01 * most


@needs_compiler
def test_a_change_of_the_path_changes_the_rate():
    log = run("path_change_of_rate_and_delay").log
    inside = (log["released"] > 7.1e9) & (log["released"] <= 10e9)
    assert 0.75 * 12e6 < log["size"][inside].sum() * 8 / 2.9 <= 1.01 * 12e6


@needs_compiler
def test_no_packet_is_served_before_it_propagates():
    log = run("tail_drop").log
    kept = log[log["lost"] == 0]
    assert (kept["released"][kept["released"] >= 0] >= kept["arrival"][kept["released"] >= 0] + 40_000_000).all()
    assert np.count_nonzero(log["lost"]) > 0


@needs_compiler
def test_results_are_read_again(tmp_path, monkeypatch, capsys):
    """The second call plays nothing again, and the table says the same."""
    out = str(tmp_path / "out.jsonl")
    words = ["scenarios", "multipath", "tunnel", "tail_drop", "--simulated", "reno", "--out", out]
    monkeypatch.setattr("sys.argv", words)
    study.main()
    assert capsys.readouterr().out.count("not played") == 2
    monkeypatch.setattr(played, "play", None)  # cannot be called
    study.main()
    assert capsys.readouterr().out == ""
    monkeypatch.setattr("sys.argv", [*words, "--table"])
    study.main()
    table = capsys.readouterr().out
    assert "| `multipath` | 7.10 Multipath Transport | – |" in table
    assert "| `tail_drop` | 6.1 Paths with Tail-drop Queues | met |" in table


def test_an_invalid_run_has_no_verdict(monkeypatch):
    """However its log looks."""
    invalid = replaced(played.Run(ALL["tail_drop"].link, ("reno",), 10**9, np.zeros(0)), faults=("late",))
    monkeypatch.setattr(played, "emulated", lambda scenario, sender: invalid)
    result = study.play("tail_drop", ALL["tail_drop"], "emulated", "reno")
    assert (result.verdict, result.reason, result.expectations) == ("not valid", "late", [])


def test_a_rate_of_an_application():
    assert scenarios.rate("unlimited") is None
    assert scenarios.rate("0 mbit") == 0
    assert scenarios.rate("8 mbit") == Fraction(10**6)
    assert Flow(application=[Offer(0, "1 mbit")]).sender == scenarios.TESTED


@pytest.mark.usefixtures("emulator")
def test_an_application_of_the_kernel_offers_at_its_rate():
    """Even in a run that a busy machine held up: a limited flow sends at most its 2 Mbit/s, and headers."""
    flows = [Flow(application=[Offer(0, "2 mbit"), Offer(1, "unlimited")])]
    planted = changed("tail_drop", flows=flows, seconds=2, expect=[Expected("utilisation >= 0%")])
    log = played.emulated(planted, "cubic").log
    sent = [log["size"][(log["arrival"] > begin) & (log["arrival"] <= begin + 5 * 10**8)].sum() * 16
            for begin in (3 * 10**8, 14 * 10**8)]  # fmt: skip
    assert 0 < sent[0] <= 2.4e6 < sent[1]
