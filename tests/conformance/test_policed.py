"""A policer in front of a bottleneck (docs/reference/encoding.md, section 4): packets obey its laws; questions."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.contracts import load_definition
from ccmatic.deployment.emulation import pipeline, replay
from ccmatic.networks.simulation import Path, Simulation, WindowFlow
from ccmatic.worlds.runtime.library import StatefulSender
from conformance.updates import library
from support.machine import needs_compiler
from support.window_senders import CONTROLLERS


@needs_compiler
def test_both_parts_lose_packets_in_runs():
    by_policer = by_queue = 0
    model = load_definition("models", "MODEL", "policed:bucket=3")
    for seed in range(10):
        path = Path(model, 1500 * 10, 1, 1500, 1, 1500)
        flow = WindowFlow(Simulation(path, seed, jitter="none"), StatefulSender(library(CONTROLLERS[seed % 3]), 1500))
        for _ in range(30):
            flow.step()
        run = flow.simulation.run()
        at_policer = int(run.samples["Lp"][-1])
        by_policer += at_policer
        by_queue += int(run.lost.sum()) - at_policer
    assert by_policer > 0 and by_queue > 0


def test_the_emulator_has_a_bucket_and_then_a_queue():
    """Packets of any sizes, by exact arithmetic."""
    link = pipeline._link(on="policed 24 mbit, tokens=2/3, bucket=1/4, rtt 40 ms, buffer 4500 b")
    rate, tokens_rate, size = 24 * 10**6, 16 * 10**6, 30_000
    policed = queued = 0
    for seed in range(5):
        rng = Random(seed)
        arrivals = np.cumsum([rng.choice((0, 1, 10**6, rng.randint(0, 10**6))) for _ in range(400)]).tolist()
        sizes = [rng.choice((1500, 1500, rng.randint(40, 1500))) for _ in arrivals]
        tokens, before, free = Fraction(size), 0, Fraction(0)
        for now, own, (dropped, admitted, _) in zip(
            arrivals, sizes, replay.decisions(link, arrivals, sizes), strict=True
        ):
            tokens = min(Fraction(size), tokens + Fraction((now - before) * tokens_rate, 8 * 10**9))
            before = now
            if tokens < own:
                assert dropped
                policed += 1
                continue
            tokens -= own
            ends = max(free, Fraction(now)) + Fraction(own * 8 * 10**9, rate)
            full = (ends - now) * rate > 4500 * 8 * 10**9
            assert dropped == full
            queued += full
            free = free if full else ends
            assert full or admitted == -(-ends.numerator // ends.denominator)
    assert policed > 50 and queued > 50


def passes(share, bucket, more):
    """The verdict on: in 3 steps, the policer passes at most its bucket, its tokens, and `more`, in C·R_m."""
    network = cm.Network(f"policed:tokens={share},bucket={bucket}", "infinite", 4, delay="executions")
    most = f"{bucket} + 3 * {share} + {more}"
    query = cm.Query(network, "avoids", what=f"(A[T-1] - Lp[T-1]) - (A[0] - Lp[0]) > {most}", given="alpha < 1/5")
    return cm.verify("anyone", query).verdict


def test_no_more_than_the_bucket_and_the_tokens_pass():
    assert passes("1/2", "1", "0") == "holds"
    assert passes("1/2", "1", "-1/100") == "violated"


@pytest.mark.parametrize(
    ("network", "message"),
    [
        ("policed, tokens=2, buffer 1 bdp", "tokens is 2; expected a rate above 0, at most 1, in C"),
        ("policed, bucket=0, buffer 1 bdp", "bucket is 0; expected a size above 0, in C·R_m"),
        (
            "policed 24 mbit, bucket=1/100, rtt 40 ms, buffer 1 bdp",
            "a bucket of 1200 bytes for packets of 1500; expected at least 'bucket=1/80', in C·R_m",
        ),
        ("policed, bucket 1 bdp", "has a bucket, and policed has a buffer; expected such as 'buffer 1 bdp'"),
        ("policed, buffer 1 bdp, application pauses", "policed has no application that pauses"),
    ],
)
def test_what_is_no_policed_network_is_refused(network, message):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        cm.ask("aimd", network, "loss <= 1%")


def test_small_buckets_are_refused():
    with pytest.raises(InputError, match="a bucket of 1200 bytes; expected at least a packet, 1500 bytes"):
        pipeline._link(on="policed 24 mbit, tokens=1/2, bucket=1/100, rtt 40 ms, buffer 1 bdp")
    with pytest.raises(InputError, match="the rate of tokens is 12.5 packets, expected a whole number"):
        Path("policed", 25, jitter=1, buffer=10)
