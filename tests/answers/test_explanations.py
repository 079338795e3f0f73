"""Networks that explain logs: the examples, random logs of known networks, planted faults, and the command."""

import runpy
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ccmatic as cm
from ccmatic.deployment.emulation import pipeline, replay
from ccmatic.fitting import networks, packet_log
from ccmatic.fitting.explanations import explain
from ccmatic.fitting.log import NEVER, UNKNOWN
from ccmatic.fitting.networks import NETWORKS
from ccmatic.fitting.rate_search import Values, extreme_rate
from ccmatic.fitting.readers import read_log
from ccmatic.fitting.virtual_queue import BYTE, Rates, arrivals, queue, room
from support import ROOT
from support.cli import lines, run
from support.json_schemas import validate
from support.machine import needs_compiler
from support.sampling import each_nth

LOGS = ROOT / "examples/logs"

#: The network that explains each example; None if no network does.
EXAMPLES = {
    "cable": "constant rate",
    "wifi": "constant rate",
    "paused": "constant rate, pausing sender",
    "policed": "token-bucket policer",
    "policed_cable": "policer before a bottleneck",
    "outage": "outage",
    "handover": "change of rate",
    "marked": "marks above a threshold",
    "lossy": "random loss",
    "lte": None,
}


#: One half of the examples by default, the same in every test that takes an example at a time.
DRAWN = each_nth(2, EXAMPLES)


def drawn(*names):
    """The parameters of these examples."""
    return [parameter for parameter in DRAWN if parameter.values[0] in names]


@cache
def example(name):
    return read_log(str(LOGS / f"{name}.csv"))


@cache
def explained(name):
    return explain(example(name))


def of_example(name):
    """The answer for the network that explains an example."""
    return next(answer for answer in explained(name).answers if answer.network == EXAMPLES[name])


def answers(log, **options):
    return {answer.network: answer for answer in explain(log, **options).answers}


@pytest.mark.parametrize("name", DRAWN)
def test_each_example_is_explained_by_its_network_and_by_no_simpler_one(name):
    found, own = explained(name), EXAMPLES[name]
    assert [answer.network for answer in found.answers] == [*NETWORKS] and found.explained is (own is not None)
    for answer in found.answers:
        if answer.network == own:
            assert answer.explains and answer.found
            break
        assert answer.explains is False and (answer.breaks or "no packet has a mark" in answer.note)


def test_every_example_has_a_network():
    assert {file.stem for file in LOGS.glob("*.csv")} == {*EXAMPLES}
    assert all(file.stat().st_size < 200_000 for file in LOGS.glob("*.csv"))


@needs_compiler
def test_the_examples_are_what_the_script_writes(tmp_path):
    module = runpy.run_path(str(LOGS / "generate.py"))
    for name, packets in module["logs"]():
        assert module["text"](packets) == (LOGS / f"{name}.csv").read_text(), name


def replayed(log, on):
    """Whether each packet is lost, and when it is to be delivered, on a network as `--on` takes it."""
    link = pipeline._link(on=on)
    decided = replay.outcomes(link, (log.sent - log.sent[0]).tolist(), log.size.tolist())
    lost, _, planned, marked = zip(*decided, strict=True)
    return np.array(lost), np.array(planned), np.array(marked)


@needs_compiler
@pytest.mark.parametrize("name", drawn("cable", "policed", "policed_cable", "outage", "marked"))
def test_the_emulator_repeats_the_log_on_the_network_that_explains_it(name):
    log = example(name)
    lost, planned, marked = replayed(log, of_example(name).on)
    assert (marked == (log.marked == 1)).all()
    assert (lost == log.lost).all()
    assert (planned[~lost] == (log.delivered - log.sent[0])[~lost]).all()


@needs_compiler
def test_a_larger_or_smaller_bucket_does_not_repeat_the_log():
    """The bucket is tight: with a byte less, the emulator's policer loses a packet that the log has."""
    log = example("policed")
    found = of_example("policed").found
    path = f"policer {found.rate}bit, rtt 40 ms, bucket"
    assert (replayed(log, f"{path} {found.size} b")[0] == log.lost).all()
    assert (replayed(log, f"{path} {found.size - 1} b")[0] != log.lost).any()
    assert (replayed(log, f"{path} {found.size + 3000} b")[0] != log.lost).any()


@pytest.mark.parametrize("name", drawn(*(name for name, network in EXAMPLES.items() if network)))
def test_a_question_takes_the_network(name):
    on = of_example(name).on
    question = cm.ask("reno", on, "burst <= 1000 bdp")
    assert question.where


@needs_compiler
def test_a_smaller_or_larger_threshold_does_not_repeat_the_log():
    """The threshold is tight: with a byte less, the emulator's link marks a packet more."""
    log = example("marked")
    found = of_example("marked").found
    threshold = found.parameters["threshold_bytes"]
    path = f"marking {found.rate}bit, rtt 40 ms, buffer 2 bdp, threshold"
    assert (replayed(log, f"{path} {threshold} b")[2] == (log.marked == 1)).all()
    assert (replayed(log, f"{path} {threshold - 1} b")[2] != (log.marked == 1)).any()
    assert (replayed(log, f"{path} {threshold + 3000} b")[2] != (log.marked == 1)).any()


@pytest.mark.parametrize("change, what", [((0, 1), "a network that explains the packets before it"), ((1, 0), "")])
def test_a_mark_that_the_queue_does_not_explain_is_found(change, what):
    log = example("marked")
    before, after = change
    places = np.flatnonzero(log.marked == before)
    for packet in places[len(places) // 2 : len(places) // 2 + 2].tolist():
        marked = log.marked.copy()
        marked[packet] = after
        answer = answers(replace(log, marked=marked))["marks above a threshold"]
        assert answer.explains is False and what in answer.breaks.law


def test_marks_that_a_log_does_not_state_are_free():
    log = example("marked")
    unknown = np.where(np.arange(len(log.marked)) % 2, UNKNOWN, log.marked)
    answer = answers(replace(log, marked=unknown))["marks above a threshold"]
    assert answer.explains and answer.found.rate == of_example("marked").found.rate
    none = np.full(len(log.marked), UNKNOWN)
    without = answers(replace(log, marked=none))
    assert without["constant rate"].explains and without["marks above a threshold"].note.startswith("'constant rate'")


def passed(log, packet):
    """The log, with a lost packet delivered after the shortest delay."""
    delivered = log.delivered.copy()
    delivered[packet] = log.sent[packet] + log.least_delay()
    return packet_log("planted", log.sent, delivered, log.size)


def test_a_packet_that_the_bucket_cannot_pay_for_is_not_explained():
    log = example("policed")
    for packet in np.flatnonzero(log.lost)[:2].tolist():
        answer = answers(passed(log, packet))["token-bucket policer"]
        assert answer.explains is False
        assert answer.breaks.packet > packet and "a network that explains the packets before it" in answer.breaks.law
    lost = log.delivered.copy()
    lost[5] = NEVER
    answer = answers(packet_log("planted", log.sent, lost, log.size))["token-bucket policer"]
    assert answer.explains is False


def test_the_first_packet_that_breaks_is_the_first():
    """Without the packet, the log up to it is explained."""
    log = example("lossy")
    broken = next(answer for answer in explained("lossy").answers if answer.network == "constant rate").breaks
    assert broken.line == broken.packet + 1

    def part(count):
        return packet_log("part", log.sent[:count], log.delivered[:count], log.size[:count])

    rtt = Fraction(log.least_delay(), 10**9)
    assert answers(part(broken.packet - 1), rtt=rtt)["constant rate"].explains
    assert not answers(part(broken.packet), rtt=rtt)["constant rate"].explains


# ---- random logs of known networks ----


def policed(random, packets):
    """A log of a policer by exact arithmetic; its rate in bit/s and its bucket in bytes."""
    rate, bucket = random.choice([10**6, 8 * 10**6, 12_345_678]), random.choice([1500, 4000, 20_000])
    tokens, now, before, sent, delivered, size = Fraction(bucket), 0, 0, [], [], []
    for _ in range(packets):
        now += random.choice([0, 1, 100_000, random.randint(0, 3_000_000)])
        own = random.choice([40, 576, 1500])
        tokens = min(Fraction(bucket), tokens + Fraction((now - before) * rate, BYTE))
        before, accepted = now, tokens >= own
        tokens -= own if accepted else 0
        sent.append(now), size.append(own), delivered.append(now + 10**7 if accepted else NEVER)
    return packet_log("policed", sent, delivered, size), rate, bucket


def queued(random, packets, jitter=0):
    """A log of a drop-tail queue by exact arithmetic; its rate in bit/s, its buffer in bytes."""
    rate, buffer = random.choice([10**6, 8 * 10**6, 12_345_678]), random.choice([3000, 9000, 40_000])
    free, now, sent, delivered, size, latest = Fraction(0), 0, [], [], [], 0
    for _ in range(packets):
        now += random.choice([0, 1, 100_000, random.randint(0, 3_000_000)])
        own = random.choice([40, 576, 1500])
        begins = max(free, Fraction(now))
        ends = begins + Fraction(own * BYTE, rate)
        accepted = (ends - now) * rate <= buffer * BYTE
        if accepted:
            free = ends
            latest = max(latest, -(-ends.numerator // ends.denominator) + 10**7 + random.randint(0, jitter))
        sent.append(now), size.append(own), delivered.append(latest if accepted else NEVER)
    return packet_log("queued", sent, delivered, size), rate, buffer


def check_policed(seed, packets=40):
    log, rate, bucket = policed(Random(seed), packets)
    if not log.lost.any() or log.lost.all():
        return
    answer = answers(log)["token-bucket policer"]
    assert answer.explains and answer.found.jitter == 0
    found = answer.found
    assert found.size <= bucket
    assert found.parameters["lowest_bits_per_second"] <= rate <= found.parameters["highest_bits_per_second"]
    load = queue(arrivals(log), Rates((found.rate,))).load
    assert ((load > found.size * BYTE) == log.lost).all()


def check_queued(seed, packets=40, jitter=500_000):
    log, rate, buffer = queued(Random(seed), packets, jitter)
    answer = answers(log, rtt=Fraction(1, 100))["constant rate, pausing sender"]
    answer = answer if answer.found else answers(log, rtt=Fraction(1, 100))["constant rate"]
    assert answer.explains
    found = answer.found
    assert found.jitter <= jitter
    formed = queue(arrivals(log), Rates((found.rate,)))
    assert ((formed.load > found.size * BYTE) == log.lost).all()
    held = (log.delivered - log.sent[0] - formed.left)[~log.lost]
    assert held.min() == found.propagation >= 0 and held.max() - held.min() == found.jitter
    if found.rate == rate:
        assert found.size <= buffer


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_random_policers_are_explained_by_no_more(seed):
    check_policed(seed)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_random_queues_are_explained_by_no_more(seed):
    check_queued(seed)


@pytest.mark.slow
def test_a_thousand_random_logs_are_explained_by_no_more():
    for seed in range(1000):
        check_policed(seed, 60), check_queued(seed, 60)


def check_lossy(seed):
    random = Random(seed)
    share, packets = random.choice([50, 100, 400]), random.choice([1, 2, 5])
    size = np.array([random.choice([40, 576, 1500]) for _ in range(400)])
    lost, allowed = [], Fraction(0)
    for own in size.tolist():  # the excess of any interval stays within the burst
        allowed = max(Fraction(0), allowed)
        gone = allowed + own - Fraction(own * share, networks.PARTS) <= packets * 1500 and random.random() < 0.2
        allowed += (own if gone else 0) - Fraction(own * share, networks.PARTS)
        lost.append(gone)
    lost = np.array(lost)
    assert networks.burst_of_losses(size, lost, Fraction(share, networks.PARTS)) <= packets * 1500
    for each in networks.front_of_losses(size, lost):
        assert networks.burst_of_losses(size, lost, each.share) <= each.burst
        if each.share:
            assert networks.burst_of_losses(size, lost, each.share - Fraction(1, networks.PARTS)) > each.burst
        if each.burst >= packets * 1500:
            assert each.share <= Fraction(share, networks.PARTS)
    return lost.any()


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_random_losses_are_explained_by_no_larger_share(seed):
    check_lossy(seed)


def slow_burst(size, lost, share):
    """The largest excess of lost bytes over a share, by all intervals."""
    count = len(size)
    excess = (
        sum(int(size[k]) for k in range(i, j) if lost[k]) - share * int(size[i:j].sum())
        for i in range(count)
        for j in range(i + 1, count + 1)
    )
    return max(0, *excess)


def test_a_burst_is_the_largest_excess_of_an_interval():
    for seed in range(20):
        random = Random(seed)
        size = np.array([random.choice([40, 1500]) for _ in range(12)])
        lost = np.array([random.random() < 0.4 for _ in size])
        share = Fraction(random.randint(0, 10), 10)
        assert networks.burst_of_losses(size, lost, share) == slow_burst(size, lost, share)


def test_the_search_misses_no_rate():
    """Against all rates, one by one, on logs that mostly no policer leaves."""
    lossy = 0
    for seed in range(25):
        random = Random(seed)
        sent = np.cumsum([random.randint(0, 10**8) for _ in range(6)])
        lost = [False, *(random.random() < 0.4 for _ in range(5))]
        log = packet_log("x", sent, [NEVER if gone else at + 1 for at, gone in zip(sent, lost, strict=True)], [1] * 6)
        packets = arrivals(log)

        def values_at(rate, packets=packets):
            return Values(0, 0, room(packets, queue(packets, Rates((rate,))).load), 0)

        # A packet of a byte is served within a nanosecond at the last rate.
        every = [rate for rate in range(1, 1500) if values_at(rate).room.exists]
        found = extreme_rate(values_at, largest=True), extreme_rate(values_at, largest=False)
        if every:
            assert found[1].rate == every[0]
            assert found[0].rate == every[-1] or found[0].rate >= 1500
            lossy += any(lost)
        else:
            assert found[0] is None or found[1].rate >= 1500
    assert lossy > 3


def test_rates_over_time_do_the_work_that_they_say():
    rates = Rates((8 * 10**9, 0, 10**9), (100, 250))
    times = np.array([0, 50, 100, 200, 250, 251])
    assert rates.work(times).tolist() == [0, 400 * 10**9, 800 * 10**9, 800 * 10**9, 800 * 10**9, 801 * 10**9]
    levels = np.array([1, 800 * 10**9, 800 * 10**9 + 1, 802 * 10**9])
    assert rates.reached(levels).tolist() == [1, 100, 251, 252]
    wide = rates.reached(levels.astype(object))
    assert wide.tolist() == [1, 100, 251, 252]


@pytest.mark.parametrize("wide", [False, True])
def test_an_outage_moves_what_waits(wide):
    """Three packets of 1000 bytes at 8 Mbit/s; the link is out from 1.5 ms for 10 ms."""
    log = packet_log("x", [0, 0, 0], [10**6, 12 * 10**6, 13 * 10**6], [1000] * 3)
    rates = Rates((8 * 10**6, 0, 8 * 10**6), (1_500_000, 11_500_000))
    left = queue(arrivals(log), rates).left
    assert left.tolist() == [10**6, 12 * 10**6, 13 * 10**6]
    assert all(isinstance(each, int) for each in left.tolist()) and all(a < b for a, b in pairwise(left.tolist()))


# ---- the command ----


def test_the_command_says_what_explains_a_log():
    code, out, _ = run("fit", str(LOGS / "policed.csv"), "--explain")
    assert code == 0 and "  token-bucket policer: rate 12.0" in out and "--on 'policer 12.0" in out
    assert "constant rate: packet 73 (line 74): it is delivered too late" in out
    code, out, _ = run("fit", str(LOGS / "lte.csv"), "--explain")
    assert code == 1 and out.count("no network explains the log") == 1 and "--on" not in out
    assert out.count("try: a larger --jitter, or `fit` without --explain") == 1
    assert out.count("no packet has a mark (CE), or the log does not state marks") == 1
    assert sum(f"  {network}: packet " in out for network in NETWORKS) == len(NETWORKS) - 1
    code, out, _ = run("fit", str(LOGS / "policed.csv"), "--explain", "--json")
    assert code == 0 and [line["network"] for line in lines(out)] == [*NETWORKS]
    for line in lines(out):
        validate(line, "ExplanationLine")
    assert lines(out)[2]["parameters"]["bucket_bytes"] == of_example("policed").found.size


def test_more_jitter_explains_more():
    assert cm.explain_log(LOGS / "wifi.csv", jitter="1ms").explained is False
    assert cm.explain_log(LOGS / "wifi.csv", jitter="8ms").explained is True
    assert cm.explain_log(LOGS / "lte.csv", jitter="100 rtt").answers[0].explains


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--jitter", "4ms"), "--jitter limits explanations; expected --explain, too"),
        (("--explain", "--model", "ccac"), "--explain ignores --model; expected --explain without"),
        (("--explain", "--jitter", "4"), "cannot read '4'; expected a duration such as 40ms"),
        (("--explain", "--rtt", "0s"), "the rtt is '0s'"),
    ],
)
def test_bad_input_is_one_message(options, says):
    code, out, err = run("fit", str(LOGS / "policed.csv"), *options)
    assert code == 2 and out == "" and says in err and len(err.splitlines()) == 1
