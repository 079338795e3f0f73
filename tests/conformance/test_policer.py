"""The token-bucket policer (docs/reference/encoding.md, section 4): packets obey its laws; questions about it."""

from fractions import Fraction
from random import Random
from types import SimpleNamespace

import numpy as np
import pytest
from ccmatic.models.policer import MODEL, lost_when_empty, refills_at_any_time

import ccmatic as cm
from ccmatic.answers.verification import check_trace
from ccmatic.base import InputError
from ccmatic.contracts.execution import execution
from ccmatic.deployment.emulation import pipeline, replay
from ccmatic.logic import no, some
from ccmatic.logic.solving import SAT, UNSAT, Checker
from ccmatic.networks.simulation import Path, Simulation, simulate
from ccmatic.questions import query as queries
from support.machine import needs_compiler


@needs_compiler
def test_it_loses_what_a_queue_of_the_size_of_its_bucket_would_lose():
    """And delays nothing."""
    for seed in range(30):
        rng = Random(seed)
        bdp = rng.randint(5, 40)
        sent = [rng.randint(1, 3 * bdp) for _ in range(12)]
        room, burst = rng.randint(1, 2 * bdp), rng.randint(0, 3 * bdp)
        policed, queued = (
            simulate(Path(name, bdp, jitter=1, buffer=room), lambda seen, sent=sent: sent[seen.step], 12, seed, burst)
            for name in ("policer", "cbr_delay")
        )
        assert (policed.lost == queued.lost).all()
        passed = ~policed.lost
        assert (policed.started[passed] == policed.sent[passed]).all()


@needs_compiler
def test_runs_obey_the_laws_after_the_rate_changes():
    for seed in range(60):
        rng = Random(seed)
        bdp, other, room = rng.choice((12, 24)), rng.choice((6, 8, 36)), rng.randint(2, 40)
        simulation = Simulation(Path("policer", bdp, jitter=1, buffer=room), seed, rates=[other])
        for step in range(14):
            if step == 6:
                simulation.change_rate(other)
            simulation.step(rng.randint(1, 3 * max(bdp, other)))
        run = simulation.run()
        for start, horizon in ((1, 6), (8, 7)):
            trace = run.trace(start, horizon, alpha=Fraction(1, 200))
            query = queries.make("policer", str(trace.constants["beta"]), horizon, jitter=1, delay="executions")
            assert check_trace(query, trace.measuring(query.model.measures)).faults == ()


def test_the_emulated_policer_is_a_bucket_of_bytes():
    """Packets of any sizes, by exact arithmetic."""
    lost = 0
    link = pipeline._link(on="policer 12 mbit, rtt 40 ms, bucket 15 kb")
    for seed in range(5):
        rng = Random(seed)
        arrivals = np.cumsum([rng.choice((0, 1, 10**6, 10**6 - 1, rng.randint(0, 10**6))) for _ in range(300)]).tolist()
        sizes = [rng.choice((1500, 1500, rng.randint(40, 1500))) for _ in arrivals]
        decided = replay.decisions(link, arrivals, sizes)
        tokens, before = Fraction(link.buffer), 0
        for now, size, (dropped, admitted, _) in zip(arrivals, sizes, decided, strict=True):
            tokens = min(Fraction(link.buffer), tokens + Fraction((now - before) * 12, 8000))
            before = now
            assert dropped == (tokens < size) and admitted == (-1 if dropped else now)
            tokens -= 0 if dropped else size
            lost += dropped
    assert lost > 50


def burst_steps(rng, size, steps=6):
    """Bytes that arrive in bursts at any times: exact columns at the ends of steps, with C = 1 byte per step."""
    tokens, A, L, bucket = rng.choice((Fraction(0), size, Fraction(rng.randint(0, 8), 8) * size)), [0], [0], []
    bucket.append(tokens)
    for _ in range(steps):
        times, sent, lost, now = sorted(Fraction(rng.randint(0, 8), 8) for _ in range(rng.randint(0, 3))), 0, 0, 0
        for time in times:
            tokens, now = min(size, tokens + time - now), time
            burst = Fraction(rng.randint(0, 16), 8)
            sent, lost, tokens = sent + burst, lost + max(0, burst - tokens), max(0, tokens - burst)
        tokens = min(size, tokens + 1 - now)
        A.append(A[-1] + sent), L.append(L[-1] + lost), bucket.append(tokens)
    return SimpleNamespace(A=A, L=L, bucket=bucket, C=1, beta=size, admitted=lambda t: A[t] - L[t])


def obeyed(x):
    """Whether all steps obey the laws of arrivals at any time."""
    return all(law(x, t) for law in (lost_when_empty, refills_at_any_time) for t in range(1, len(x.A)))


def test_bursts_at_any_time_obey_the_laws():
    """Of window senders, by arithmetic on a bucket; a bucket that refills at once breaks them."""
    lossy = 0
    for seed in range(2000):
        rng = Random(seed)
        x = burst_steps(rng, rng.choice((Fraction(1, 4), Fraction(1), Fraction(3))))
        assert obeyed(x)
        if x.beta > x.C and x.L[-1]:
            assert not obeyed(SimpleNamespace(**{**vars(x), "bucket": [x.beta] * len(x.bucket)}))
            lossy += 1
    assert lossy > 50


def answer(condition, buffer="any", horizon=4, jitter=1, pauses=False):
    """Whether the condition is true of some execution that begins with true beliefs."""
    query = queries.make("policer", buffer, horizon, jitter=jitter, delay="executions")
    x = execution(query.model, horizon, query.buffer, jitter, pauses=pauses)
    checker = Checker()
    for law in [*query.laws(x), *query.model.belief_laws(x)]:
        checker.add(law.formula)
    checker.add(condition(x))
    return checker.check()


def test_a_burst_of_the_bucket_passes_and_no_more():
    def passes(more):
        return lambda x: x.admitted(2) - x.admitted(0) > x.beta + 2 * x.C - more

    assert answer(passes(Fraction(1, 100))) == SAT
    assert answer(passes(0)) == UNSAT


@pytest.mark.parametrize("pauses", [False, True])
@pytest.mark.parametrize("jitter", [1, 2])
def test_beliefs_stay_true_of_it(jitter, pauses):
    """C_L shows a burst: it may pass C, by at most the bucket over 1 + D. C_U stays at least C."""

    def at_end(name):
        return lambda x: x.beliefs[name][x.horizon - 1]

    def false_at_end(x):
        return some([no(bound.holds(x, at_end(bound.name)(x))) for bound in MODEL.bounds()])

    assert answer(false_at_end, jitter=jitter, pauses=pauses) == UNSAT
    assert answer(lambda x: at_end("C_L")(x) > x.C, jitter=jitter, pauses=pauses) == SAT
    assert answer(lambda x: at_end("C_U")(x) < 2 * x.C, jitter=jitter, pauses=pauses) == SAT


def test_without_jitter_the_upper_bound_turns_false():
    """A step without losses follows those with losses."""
    assert answer(lambda x: x.beliefs["C_U"][x.horizon - 1] < x.C, jitter=0) == SAT


def test_a_bucket_that_empties_does_not_repeat():
    """Its tokens are the same a period later."""
    network = cm.Network("policer_windows", "1", 5)
    given = "alpha == 1/10; bucket[T-1] < bucket[begin]"
    with pytest.raises(InputError, match="no execution"):
        cm.worst("constant_window", network, period=2, given=given)
    assert cm.worst("constant_window", network, given=given).verdict == "found"


def test_formats_of_links_with_a_buffer_refuse_its_traces():
    question = cm.ask("cc_qdel", "policer, bucket 1 bdp, jitter 1 rtt", "loss <= 10%", start="converged")
    trace = cm.answer(question).trace
    with pytest.raises(InputError, match="this format's link has a buffer, and policer has a bucket"):
        cm.export_trace(trace, "schedule", rate="24mbit", rtt="40ms")
    assert cm.export_trace(trace, "csv", rate="24mbit", rtt="40ms")


def test_every_even_step_is_a_step_with_arrivals_at_any_time():
    """The laws of window senders allow what those of senders by a rate allow."""

    def differs(x):
        return some([no(law(x, t)) for law in (lost_when_empty, refills_at_any_time) for t in range(1, x.horizon)])

    assert answer(differs) == UNSAT


@pytest.mark.parametrize(
    "network, message",
    [
        (
            "policer 24 mbit, rtt 40 ms, bucket 1 kb",
            "a bucket of 1000 bytes for packets of 1500; expected at least 'bucket 1500 b'",
        ),
        ("policer, buffer 1 bdp", "has a buffer, and policer_windows has a bucket; expected such as 'bucket 1 bdp'"),
        ("ccac, bucket 1 bdp", "has a bucket, and ccac2021 has a buffer; expected such as 'buffer 1 bdp'"),
        (
            "policer, bucket infinite",
            "the bucket is infinite; the policer_windows link drops bytes, expected a finite bucket",
        ),
        ("policer, bucket 1 bdp, buffer 1 bdp", "has a buffer and a bucket; expected one of them"),
        ("policer, bucket 1", "the bucket is '1'; expected infinite, any, or a size above 0 such as"),
    ],
)
def test_what_is_no_policer_is_refused(network, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        cm.ask("aimd", network, "loss <= 1%")


@pytest.mark.parametrize(
    "path, message",
    [
        ("policer 12 mbit, rtt 40 ms, bucket 1 kb", "a bucket of 1000 bytes; expected at least a packet, 1500 bytes"),
        ("policer 12 mbit, rtt 40 ms, buffer 1 bdp", "has a buffer, and policer has a bucket"),
        ("ccac 12 mbit, rtt 40 ms, buffer 1 bdp", "does not decide on a packet when.*; expected .* such as cbr_delay"),
        ("ccac2021 12 mbit, rtt 40 ms, buffer 1 bdp", "the model ccac2021 has no packets.h"),
    ],
)
@needs_compiler
def test_what_no_emulator_runs_is_refused(path, message):
    with pytest.raises(InputError, match=message):
        pipeline._link(on=path)
