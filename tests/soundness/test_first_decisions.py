"""Questions count from the state before a sender's first decision, whatever the sender has to observe before it."""

from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.answers.verification.replayer import sender_laws
from ccmatic.base import InputError
from ccmatic.logic import equal, every, isolated
from ccmatic.logic.solving import SAT, Checker
from ccmatic.questions import units
from support.sampling import each_nth

PATH = "24 mbit, rtt 40 ms, buffer 2 bdp"  # a BDP is 80 packets

#: Conditions of a controller by what they read, each with the names that `update` reads.
READS = {
    "nothing": ("level < 2 * MSS", ()),
    "losses": ("lost > lost[step]", ("lost", "step")),
    "earlier losses": ("lost > lost[2 * step]", ("lost", "step")),
    "acknowledgements": ("acked > acked[step]", ("acked", "step")),
    "earlier acknowledgements": ("acked[step] > acked[3 * step]", ("acked", "step")),
    "delay": ("delay > step", ("delay", "step")),
    "a rate": ("ack_rate * R_m > level", ("ack_rate", "R_m")),
    "the largest rate": ("max_over(ack_rate, 3) * R_m > level", ("ack_rate", "R_m")),
    "the timer": ("timeout", ("timeout",)),
    "the application": ("app_limited", ("app_limited",)),
}


def adds_a_packet(reads, sends):
    """A sender that adds at most one packet per step, and takes at most one away."""
    condition, names = READS[reads]
    returned = {"rate": "level / R_m", "both": "(level, level / R_m)"}.get(sends, "level")
    return f"""level: bytes = above(0)


def update(level, MSS, {", ".join(names)}):
    if {condition}:
        level = max(level - MSS, MSS)
    else:
        level = level + MSS


def send(level, R_m):
    return {returned}
"""


#: For each quantity and relation: a start, and the bound that no step of 4 R_m breaks.
BOUNDS = {
    ("window", "<="): ("window <= 160 packets", "164 packets"),
    ("window", "<"): ("window < 160 packets", "164 packets"),
    ("window", ">="): ("window >= 100 packets", "96 packets"),
    ("window", ">"): ("window > 100 packets", "96 packets"),
    ("growth", "<="): ("window >= 1 bdp", "1 packet"),
    ("rate", "<="): ("rate <= 100%", "105%"),
    ("rate", "<"): ("rate < 100%", "105%"),
    ("rate", ">="): ("rate >= 50%", "45%"),
    ("rate", ">"): ("rate > 50%", "45%"),
    ("level", "<="): ("level <= 160 packets", "164 packets"),
    ("level", ">="): ("level >= 100 packets", "96 packets"),
}
SENDERS = {"window": "window", "growth": "window", "rate": "rate", "level": "both"}

CASES = [(reads, *case) for case in BOUNDS for reads in READS]


@pytest.mark.parametrize(("reads", "quantity", "relation"), each_nth(3, CASES), ids="-".join)
def test_no_step_before_the_first_decision_is_blamed_on_the_controller(reads, quantity, relation):
    start, bound = BOUNDS[quantity, relation]
    controller = adds_a_packet(reads, SENDERS[quantity])
    pauses = ", application pauses" if reads == "the application" else ""
    answer = cm.answer(cm.ask(controller, PATH + pauses, f"{quantity} {relation} {bound}", start=start, horizon=5))
    assert answer.verdict == "holds"


@pytest.mark.parametrize("reads", each_nth(2, [each for each in READS if each != "the timer"]))
@pytest.mark.parametrize("quantity", SENDERS)
def test_a_decision_that_breaks_an_expectation_is_blamed_on_the_controller(reads, quantity):
    """The first decision adds a packet to the state from which it comes, and no more."""
    start, _ = BOUNDS[quantity, "<="]
    amount = {"growth": Fraction(1), "rate": Fraction(81)}.get(quantity, Fraction(161))
    unit = {"rate": Fraction(5, 4)}.get(quantity, Fraction(1))  # a packet per R_m is 1.25 % of the rate
    bound = amount * unit - unit / 2
    text = f"{quantity} <= {bound}{'%' if quantity == 'rate' else ' packets'}"
    pauses = ", application pauses" if reads == "the application" else ""
    question = cm.ask(adds_a_packet(reads, SENDERS[quantity]), PATH + pauses, text, start=start, horizon=2)
    answer = cm.answer(question)
    assert answer.verdict == "violated"
    worst = cm.measure(answer.trace, text)
    network = question.query.network
    assert network.history < worst.end <= network.horizon - 1
    assert bound < worst.value <= amount * unit


def test_a_rate_that_no_belief_decided_is_not_blamed_on_the_controller():
    """The first rate of a trace was chosen before it. Later ones are those of the controller."""
    question = cm.ask("cc_qdel", "ccac, buffer 2 bdp, jitter 1 rtt", "rate <= 16/5 while C_U <= 3/2")
    assert cm.answer(question).verdict == "holds"
    assert cm.answer(cm.ask("cc_qdel", "ccac, buffer 2 bdp, jitter 1 rtt", "rate <= 1/2")).verdict == "violated"


@pytest.mark.parametrize("gain", [1, 2])
def test_counters_begin_with_the_declared_first_state(gain):
    """Where nothing is counted at first, nothing is acknowledged: else the first decision counts bytes of any time."""
    counts = f"""window: bytes = above(0)
counted: bytes = 0


def update(window, counted, acked):
    window = window + {gain} * (acked - counted)
    counted = acked


def send(window):
    return window
"""
    on, start = "ideal, buffer 1 bdp", "window <= 1 bdp"
    grows = cm.answer(cm.ask(counts, on, f"growth <= {gain} bdp", start=start, horizon=5))
    shrinks = cm.answer(cm.ask(counts, on, "growth >= 0 bdp", start=start, horizon=5))
    assert (grows.verdict, shrinks.verdict) == ("holds", "holds")
    tight = cm.answer(cm.ask(counts, on, f"growth <= {gain - Fraction(1, 10)} bdp", start=start, horizon=5))
    assert tight.verdict == "violated"


def test_a_horizon_is_as_long_as_the_past_that_a_controller_reads():
    reads_much = adds_a_packet("the largest rate", "window").replace("max_over(ack_rate, 3)", "max_over(ack_rate, 6)")
    question = cm.ask(reads_much, PATH, "growth <= 1 packet", start="window >= 1 bdp")
    assert question.query.network.history >= 6
    assert question.query.network.steps == 5  # the 4 R_m after the start
    assert cm.answer(question).verdict == "holds"


def test_a_network_that_never_shows_an_observation_is_named():
    reads = adds_a_packet("delay", "window").replace("delay > step", "delay[step] > step")
    question = cm.ask(reads, PATH, "growth <= 1 packet", start="window >= 1 bdp")
    assert cm.answer(question).verdict == "holds"


@pytest.mark.parametrize(
    ("expectation", "rounds"),
    [
        ("queue <= 1/2 bdp", 5),
        ("queue <= 2 bdp", 6),
        ("queue < 3 bdp", 7),
        ("delay <= 4 rtt", 8),
        ("window <= 5 bdp", 9),
        ("window >= 5 bdp", 4),
        ("queue <= 100 bdp", 16),
        ("loss <= 2 bdp", 4),
        ("utilisation >= 50%", 4),
    ],
)
def test_the_default_horizon_is_long_enough_for_a_queue_to_fill(expectation, rounds):
    question = cm.ask("aimd", "ideal, buffer 1 bdp", expectation)
    assert question.query.network.steps == rounds + 1
    assert f"for the first {rounds} R_m" in question.scope


def test_a_queue_that_fills_by_a_bdp_per_step_breaks_its_bound_in_the_default_horizon():
    fills = """window: bytes = above(0)


def update(window, R_m, line_rate):
    window = window + line_rate * R_m / 100


def send(window):
    return window
"""
    for most in (1, 3, 6):
        question = cm.ask(fills, "ideal, buffer infinite", f"queue <= {most} bdp")
        assert cm.answer(question).verdict == "violated"


def test_controllers_with_state_begin_converged_and_others_anywhere():
    on = "ccac, buffer 1 bdp"
    assert cm.ask("aimd", on, "queue <= 4 bdp").start == "converged"
    assert cm.ask("aimd", on, "queue <= 4 bdp", start="any").start == "any"
    assert cm.ask("aimd", on, "queue <= 4 bdp", period=1).start == "any"
    assert cm.ask("cc_qdel", on, "queue <= 4 bdp").start == "any"


def test_a_converged_sender_by_rate_begins_near_its_share_of_the_rate():
    paced = adds_a_packet("losses", "rate")
    for text in ("rate <= 205%", "rate >= 44%"):
        assert cm.answer(cm.ask(paced, PATH, text)).verdict == "holds"
    with pytest.raises(InputError, match="so it has no window"):
        cm.ask(paced, PATH, "converged within 8 rtt")


@pytest.mark.parametrize(
    "on",
    [
        "ideal, buffer 1 bdp",
        "ideal, R=2, buffer infinite",
        "ccac, buffer 1 bdp, jitter 1 rtt",
        "cbr_delay, buffer 1 bdp, jitter 1 rtt, flows 2",
        "lossy, buffer 1 bdp, loss 1%",
        "marking, buffer 1 bdp, threshold 1/2 bdp",
        "policer, bucket 1 bdp",
        "policed, tokens=1/2, bucket=1, buffer 1 bdp",
        "ideal, buffer 1 bdp, application pauses",
        "ccac, buffer 1 bdp, outage 2 rtt",
    ],
)
@isolated
def test_a_connection_may_begin_at_the_start(on):
    """Steps before the start leave no execution out: a sender that was idle until then sends its first window next."""
    question = cm.ask(adds_a_packet("earlier acknowledgements", "window"), on, "window <= 1000 bdp", start="start")
    query, controller = question.query, question.controller
    x = query.execution(state=controller.state)
    assert x.history >= 3
    idle = [
        equal(column[t], column[0])
        for flow in x.flows
        for column in (flow.A, flow.S, flow.L, flow.Ld)
        for t in range(x.history + 1)
    ]
    first = x.flows[0]
    sends = equal(first.A[x.history + 1] - first.A[x.history], 9 * x.alpha)
    checker = Checker()
    for law in (*query.laws(x), *query.model.belief_laws(x, ()), *sender_laws(x, controller)):
        checker.add(law.formula)
    (way,) = query.property.ways_to_fail(query.model, query.buffer)
    begins = equal(x.A[0], x.S[0]), equal(x.L[0], 0), equal(x.alpha, Fraction(1, 40))
    checker.add(every(*idle, *begins, sends, way.premise(x)))
    assert checker.check() == SAT


def test_an_error_about_a_default_start_names_the_default():
    begins_small = adds_a_packet("losses", "window").replace("level: bytes = above(0)", "level: bytes = 10 * MSS")
    with pytest.raises(InputError, match="no --from was given: the default is converged"):
        cm.answer(cm.ask(begins_small, PATH, "queue <= 1 bdp"))
    with pytest.raises(InputError) as error:
        cm.answer(cm.ask(begins_small, PATH, "queue <= 1 bdp", start="converged"))
    assert "no --from was given" not in str(error.value)


def test_an_invariant_knows_no_steps_before_a_start():
    """Reno declares bytes at first. An invariant is about single steps of it, whatever was observed before them."""
    proved = cm.prove_by_invariant("reno", "ideal, buffer 1 bdp", "queue <= 1 bdp", seconds=20, jobs=1)
    assert proved.verdict == "proved"
    about = proved.proved.invariant.query
    assert about.network.history == 0 and "acked_f" not in about.property.given
    refuted = cm.prove_by_invariant("reno", "ideal, buffer 1 bdp", "window <= 1/4 bdp", seconds=20, jobs=1)
    assert refuted.verdict == "refuted" and refuted.trace.query["history"]


def test_a_link_that_begins_with_an_outage_has_no_amounts_in_bytes():
    assert "kb" not in units(Fraction(0), Fraction(1, 25)) and "ms" in units(Fraction(0), Fraction(1, 25))


@pytest.mark.parametrize("find", [cm.answer, cm.worst])
def test_counters_that_begin_at_0_are_named_as_left_out(find):
    question = cm.ask("reno", "ideal, buffer 1 bdp", "queue <= 1 bdp")
    reasons = [each.reason for each in find(question).left_out]
    assert "the sender has counted acked or lost bytes before the start" in reasons
    free = find(cm.ask(adds_a_packet("losses", "window"), "ideal, buffer 1 bdp", "queue <= 1 bdp"))
    assert not any("counted" in each.reason for each in free.left_out)
