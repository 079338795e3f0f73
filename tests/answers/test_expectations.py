"""Expectations: their texts, and that formulas, numbers and sentences of one expectation agree."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest
from ccmatic.properties.expectations import Reader, parse

import ccmatic as cm
from ccmatic.contracts import Buffer, execution, load_definition
from ccmatic.logic import either, every, isolated, no
from ccmatic.logic.solving import UNSAT, Checker
from support import ROOT

TEXTS = [
    ("utilisation >= 80%", "ccac"),
    ("utilisation >= 1/2 over every 2 rtt", "ccac_windows"),
    ("share >= 20% over every 3 rtt", "two_flows"),
    ("share >= 20% beside cubic", "two_flows"),
    ("loss <= 1%", "ccac"),
    ("loss <= 2 packets", "ccac_windows"),
    ("loss <= 1/2 bdp over every 2 rtt", "two_flows"),
    ("queue <= 2 bdp", "ccac"),
    ("queue < 3 packets while window <= 1 bdp", "ccac_windows"),
    ("delay <= 2 rtt", "ccac"),
    ("window <= 2 bdp", "two_flows"),
    ("rate <= 200%", "ccac"),
    ("no timeout", "ccac_windows"),
    ("utilisation >= 50% over every 2 rtt while queue >= 1/2 bdp", "ccac_windows"),
    ("C_L <= 100%", "ccac"),
    ("delay <= 1 rtt while queue <= 1 bdp", "ccac"),
    ("utilisation >= 50% over every 2 rtt while window >= 1 bdp", "two_flows"),
    ("share >= 20% over every 3 rtt while window >= 1 bdp and queue >= 1 bdp", "two_flows"),
    ("window >= 1 packet beside reno while rate <= 50%", "two_flows"),
    ("utilisation >= 50% over every 2 rtt while no app_limited", "ccac:application=pauses"),
    ("share >= 20% over every 3 rtt while no app_limited", "two_flows:application=pauses"),
    ("growth <= 0 packets while app_limited", "two_flows:application=pauses"),
    ("growth <= 1 packet over every 2 rtt", "ccac_windows"),
    ("burst <= 2 bdp while app_limited and queue <= 1 packet", "ccac_windows:application=pauses"),
    ("window <= 2 bdp while no timeout", "ccac_windows"),
    ("no app_limited", "ccac:application=pauses"),
]


@pytest.mark.parametrize("text, model", TEXTS)
@isolated
def test_an_expectation_forbids_what_it_compiles_to(text, model):
    network = load_definition("models", "MODEL", model)
    x = execution(network, 5, Buffer.parse("2"), 1)
    reader = Reader(network, x)
    expectation = parse(text)
    avoided = reader.condition(reader.avoided(expectation))
    met = reader.reason(expectation).condition
    checker = Checker()
    checker.add(either(met, avoided, no(avoided)))
    assert checker.check() == UNSAT


@pytest.mark.parametrize("text, model", [each for each in TEXTS if "while" in each[0]])
@isolated
def test_the_premise_of_an_expectation_is_what_it_compiles_to(text, model):
    network = load_definition("models", "MODEL", model)
    reader = Reader(network, execution(network, 5, Buffer.parse("2"), 1))
    applies, premise = reader.condition(reader.applies(parse(text))), reader.premise(parse(text))
    pairs = [(premise, no(applies)), (applies, no(premise))]
    # The search for a longest delay tries several amounts, so its premise is about all steps.
    for pair in pairs[: 1 if text.startswith("delay") else 2]:
        checker = Checker()
        checker.add(every(*pair))
        assert checker.check() == UNSAT


@pytest.mark.parametrize("text, _", TEXTS)
def test_an_expectation_reads_back_what_it_says(text, _):
    again = parse(str(parse(text)))
    assert again == parse(text)
    assert str(again) == str(parse(text))


def test_amounts_are_exact():
    assert parse("utilisation >= 33.3 %").comparison.amount == Fraction(333, 1000)
    tiny = f"window >= 1{29 * '0'}.{29 * '0'}1 bdp"
    assert parse(str(parse(tiny))) == parse(tiny) and parse(tiny).comparison.amount == 10**29 + Fraction(1, 10**30)


def test_a_trace_that_begins_elsewhere_breaks_nothing():
    query = cm.Query(cm.Network("ccac_windows", "2", 4), "expects", what="window <= 2 bdp", start="any")
    judged = cm.verify("aimd", query)
    assert judged.verdict == "violated"
    record = {**judged.trace.query, "property": {**judged.trace.query["property"], "start": "window <= 1 bdp"}}
    report = cm.replay(replace(judged.trace, query=record, broken=()))
    assert report.outcome.value == "keeps"


@pytest.mark.parametrize(
    "text, edge",
    [
        ("queue <= 3 bdp", (3, Fraction(299, 100))),
        ("queue <= 3 bdp while C_U >= 100%", (3, Fraction(299, 100))),
        ("utilisation >= 30% over every 4 rtt", (0, 1)),
        ("delay <= 3 rtt", (3, 2)),
    ],
)
def test_a_worst_case_agrees_with_the_verdict(text, edge):
    question = cm.ask("cc_qdel", "ccac, buffer 2 bdp, jitter 1 rtt", text)
    worst = cm.worst(question)
    assert (worst.none, worst.some) == edge
    assert question.met(worst) == cm.answer(question).verdict


def compiled():
    """(expectation, condition) of each row of the table for experts."""
    page = (ROOT / "docs" / "reference" / "expectations.md").read_text()
    table = page.split("what `avoids` forbids |\n")[1].splitlines()[1:]
    return [re.match(r"\| `(.*?)` .*?\| `(.*?)` \|", row).groups() for row in table if row.startswith("|")]


@pytest.mark.parametrize("text, condition", compiled())
@isolated
def test_the_page_says_what_an_expectation_compiles_to(text, condition):
    expectation = parse(text)
    changing = "changing_windows:outage=1" if expectation.comparison.subject == "recovery" else "ccac_windows"
    network = load_definition("models", "MODEL", "two_flows" if expectation.beside else changing)
    horizon = 11 if expectation.interval else 5
    assert Reader(network, execution(network, horizon, Buffer.parse("2"), 1)).avoided(expectation) == condition


def test_an_edge_is_in_the_units_of_the_question():
    """A step of the network of a path is R_m + D, so its units are not the path's."""
    path, short = "24 mbit, rtt 40 ms, buffer 1 bdp, jitter 40 ms", {"horizon": 5}
    for unit, edge in (("bdp", 3), ("ms", 120), ("kb", 360)):
        worst = cm.worst(
            cm.ask("cc_qdel", path, f"queue <= 400 {unit}", **short), at=None, low=edge - 1, high=edge, resolution=1
        )
        assert (worst.none, worst.some) == (edge, edge - 1)
        assert cm.answer(cm.ask("cc_qdel", path, f"queue <= {worst.none} {unit}", **short)).verdict == "holds"
        assert cm.answer(cm.ask("cc_qdel", path, f"queue <= {worst.some} {unit}", **short)).verdict == "violated"


@pytest.mark.parametrize(
    "controller, text, message",
    [
        ("constant_window", "rate >= 1000%", "constant_window sends by a window alone, so it has no rate"),
        ("constant_window", "queue <= 1 bdp while rate <= 200%", "constant_window sends by a window alone"),
    ],
)
def test_what_a_controller_does_not_send_by_is_refused(controller, text, message):
    with pytest.raises(cm.InputError, match=message):
        cm.ask(controller, "ccac, buffer 1 bdp", text)


def test_the_round_trip_of_a_path_is_never_left_out():
    """Where nothing propagates a link without jitter would serve at once."""
    assert cm.ask("cc_qdel", "24 mbit, rtt 40 ms, buffer 2 bdp", "queue <= 2 bdp").query.jitter == 1
    with pytest.raises(cm.InputError, match="so it cannot have an rtt"):
        cm.ask("cc_qdel", "ideal, rtt 40 ms, buffer 2 bdp, jitter 40 ms", "queue <= 2 bdp")
    with pytest.raises(cm.InputError, match="means another queue"):
        cm.ask("cc_qdel", "24 mbit, rtt 40 ms, buffer 2 bdp", "queue <= 2 bdp", start="queue <= 1 bdp")


def test_no_lower_bound_rests_on_steps_that_are_longer_than_a_round_trip():
    """A path with R_m of 40 ms has steps of 50 ms. A burst in 50 ms need not begin in each 40 ms."""
    path = "24 mbit, rtt 40 ms, buffer infinite, jitter 10 ms"
    with pytest.raises(cm.InputError, match="expected 'burst >= 1 packet over every 50 ms'"):
        cm.ask("always_double", path, "burst >= 1 packet")
    least = cm.answer(cm.ask("always_double", path, "burst >= 1 packet over every 50 ms"))
    assert least.verdict == "holds"
    most = cm.ask("always_double", path, "burst <= 1 packet")
    assert "bytes are counted in each step, which is longer than R_m: a violation may need all of it" in most.notes
    trace = most.on_path(cm.answer(most)).trace
    assert cm.measure(trace, "burst <= 1 packet").verdict == "not met"
    with pytest.raises(cm.InputError, match="expected 'burst >= 1 packet over every 50 ms'"):
        cm.measure(trace, "burst >= 1 packet")
    with pytest.raises(cm.InputError, match="means another queue"):
        cm.ask("always_double", path, "queue >= 1 packet within 100 ms")


def test_the_time_within_which_conditions_hold_is_in_the_units_of_the_question():
    for time, worst, unit in ((100, 150, "ms"), ("5/2", "3.75", "rtt")):
        text = f"queue <= 1 bdp within {time} {unit}"
        question = cm.ask("always_double", "24 mbit, rtt 40 ms, buffer infinite, jitter 10 ms", text)
        trace = cm.answer(question).trace
        assert question.measured(trace) == f"at least {worst} {unit} from 0 to 2.5 R_m"


def test_for_ever_does_not_depend_on_the_horizon():
    verdicts = [
        cm.answer(cm.ask("cc_qdel", "ccac, buffer 1 bdp", "utilisation >= 99%", period=2, horizon=T)).verdict
        for T in (6, 7, 8)
    ]
    assert len(set(verdicts)) == 1
