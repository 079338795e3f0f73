"""Scenarios: words and records say the same, and a scenario that breaks a law is refused with one message."""

import json

import pytest
from msgspec.structs import replace

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.judging import scenario, words
from support.json_schemas import validate

PATH = "24 mbit, rtt 40 ms, buffer 1 bdp, jitter 30 ms"
EVERY = [
    "hold 30 ms at 2 s",
    "rate x1/2 at 3 s",
    "idle 1 s at 5 s",
    "limit 1 mbit for 4 s at 6 s",
    "acks aggregate 10 ms for 2 s at 6 s",
    "acks lose 1 of 3 for 1 s at 8 s",
    "lose 3 packets at 9 s",
    "rtt x4 at 10 s",
    "buffer x1/2 at 11 s",
    "outage 500 ms at 12 s",
]


def test_every_event_has_words_and_a_record():
    made = scenario.lawful(words.scenario_of(PATH, EVERY, beside=["cubic"]))
    assert {type(event) for event in made.events} == {*scenario.KINDS}
    for event in made.events:
        assert words.read_event(words.event_words(event), made.rate, made.rtt, made.buffer) == event
    line = records.line(made)
    assert records.read_record(line, scenario.Scenario) == made
    validate(json.loads(line), "ScenarioFile")


@pytest.mark.parametrize(
    "on",
    [
        PATH,
        "24 mbit, rtt 40 ms, buffer 1 bdp, loss 1%, burst 2 packets",
        "policed 24 mbit, tokens=1/2, bucket=1, rtt 40 ms, buffer 1 bdp",
        "24 mbit, rtt 40 ms, buffer 1 bdp, threshold 1/4 bdp",
    ],
)
def test_a_path_has_words(on):
    made = words.scenario_of(on)
    assert words.scenario_of(words.path_words(made)) == made


def test_the_configuration_has_a_line_for_each_flow_and_event():
    made = words.scenario_of(PATH, EVERY, beside=["cubic"])
    text = scenario.configuration(made, "reno", {"cubic": ("/lib.so", "cubic")})
    head, numbers, _, _, flows, *rest = text.splitlines()
    assert head == "ccmatic-path-1 reno" and flows == "2" and rest[1].endswith("1 /lib.so cubic")
    assert numbers.split() == ["20000000000", "24000000", "40000000", "120000", "30000000", "1500", "10000", "0"]
    assert rest[2] == str(len(EVERY)) and len(rest) == 3 + len(EVERY)
    assert "6 8000000000 1000000000 0 3" in rest and "2 10000000000 160000000 0 0" in rest


@pytest.mark.parametrize(
    ("events", "message"),
    [
        (["hold 31 ms at 2 s"], "'hold 31 ms at 2 s' is longer than the jitter, 30 ms"),
        (["acks aggregate 31 ms for 1 s at 2 s"], "longer than the jitter"),
        (["hold 30 ms at 25 s"], "comes after the end of the run at 20 s"),
        (["hold 30 ms at 2 s", "hold 30 ms at 2.01 s"], "begins before 'hold 30 ms at 2 s' ends"),
        (["idle 1 s at 2 s of flow 3"], "is about flow 3"),
        (["buffer 100 b at 2 s"], "expected at least a packet"),
    ],
)
def test_a_scenario_that_breaks_a_law_is_refused(events, message):
    with pytest.raises(InputError, match=message) as error:
        scenario.lawful(words.scenario_of(PATH, events))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"buffer": 1499}, "a buffer of 1499 bytes; expected at least a packet"),
        ({"threshold": 120_000}, "is not below the buffer"),
        ({"duration": 601 * 10**9}, "expected at most 600 s"),
        ({"rate": 400 * 10**9}, "packets in 20 s; expected at most 10,000,000"),
        ({"flows": ()}, "the scenario has 0 flows"),
        (
            {"flows": (records.FlowRecord(rtt=20 * 10**6),), "events": (records.RttEvent(at=1, rtt=20 * 10**6),)},
            "leaves no R_m for a flow of 20 ms",
        ),
        ({"flows": (records.FlowRecord(beside="cubic"),)}, "the subject sends in the first flow"),
        ({"flows": (records.FlowRecord(start=30 * 10**9),)}, "flow 0 sends from 30 s"),
    ],
)
def test_a_path_that_breaks_a_law_is_refused(changes, message):
    with pytest.raises(InputError, match=message):
        scenario.lawful(replace(words.scenario_of(PATH), **changes))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hlod 3 ms at 1 s", "did you mean 'hold'"),
        (
            "lose 0 packets at 5 s",
            "the event 'lose 0 packets at 5 s', packets: found 0; expected a whole number, at least 1",
        ),
        ("hold 3 ms", "expected such as 'hold 30 ms at 2 s'"),
        ("hold 3 ms at 1 s of flow 1", "expected such as"),
        ("rtt x0 at 1 s", "the event 'rtt x0 at 1 s'"),
        ("", "cannot read the event"),
        ("outage 0 s at 1 s", "the event 'outage 0 s at 1 s'"),
    ],
)
def test_words_that_are_no_event(text, message):
    with pytest.raises(InputError, match=message):
        words.read_event(text, 24_000_000, 40_000_000, 120_000)


def test_a_path_that_code_cannot_run_on():
    for on in ("ccac, buffer 1 bdp", "24 mbit, rtt 40 ms, buffer infinite", f"{PATH}, change rtt x2"):
        with pytest.raises(InputError, match="expected|code needs"):
            words.scenario_of(on)


@pytest.mark.parametrize(
    ("on", "field"),
    [
        ("12345678901234567890 mbit, rtt 40 ms, buffer 1 bdp", "rate"),
        ("24 mbit, rtt 12345678901234567890 ms, buffer 1 bdp", "rtt"),
        ("24 mbit, rtt 40 ms, buffer 12345678901234567890 b", "buffer"),
        ("24 mbit, rtt 40 ms, buffer 1 bdp, jitter 12345678901234567890 ms", "jitter"),
        ("24 mbit, rtt 40 ms, buffer 1 bdp, packet 100", "packet"),
    ],
)
def test_a_number_out_of_its_range_is_named(on, field):
    with pytest.raises(InputError, match=f"the path '.*', {field}: found .*; expected a whole number, at"):
        words.scenario_of(on)
