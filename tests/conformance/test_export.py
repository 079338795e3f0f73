"""Exported C, event by event, against the Python of a deployed controller; and what cannot be exported."""

import shutil
import subprocess
from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import ceil, floor, lcm
from pathlib import Path as File
from random import Random

import pytest

from ccmatic import controllers as cca
from ccmatic.base.errors import InputError
from ccmatic.deployment.exporting import header
from ccmatic.deployment.exporting.targets import write
from ccmatic.language import is_stateful
from ccmatic.networks.simulation.deployed import DeployedController
from ccmatic.networks.simulation.paths import Path
from ccmatic.networks.simulation.simulator import Observation
from ccmatic.worlds.runtime.library import Library
from support.benchmarks import saved_traces
from support.sampling import each_nth

SYNTHESIZED = File(cca.__file__).parents[2] / "synthesized"
SHIPPED = sorted(path.stem for path in SYNTHESIZED.glob("*.py") if path.stem[0] != "_")
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]

needs_compiler = pytest.mark.skipif(not COMPILERS, reason="no C compiler (gcc or clang) on this machine")
every_controller = pytest.mark.parametrize("name", SHIPPED)


@cache
def library(name):
    """The shared library of a shipped controller, without its start."""
    return Library(replace(header.make(name), at_start=None))


def reference(export, path):
    """The same sender in Python, rounding as the C does."""
    packet = path.packet
    start = {"C_L": packet, "C_U": header.MOST, "C_Llambda": packet}
    return DeployedController(
        export.model, export.controller, path, export.horizon - 1, start, alpha=packet, kept=header.rounded
    )


def link(export, rng):
    """A path of the model's kind."""
    room, packet = rng.choice((None, 3, 12, 60)), rng.choice((1500, 1447, 101))
    kind, jitter = export.model.name, export.model.default_jitter
    return Path(kind, packet * rng.choice((4, 20, 60)), 1, packet, jitter, room and room * packet)


def latest(sender):
    """The beliefs that a Python sender has now, by name."""
    return {name: column[-1] for name, column in sender._x.beliefs.items()}


def events(rng, steps, length):
    """Packets sent at random; each is acknowledged, in order, or found lost when one sent later is acknowledged or
    after that; now and then there is nothing to send: (time, order, kind, sent at) in order."""
    now, acked, happened, lost = 0, 0, [], []
    while now < steps * length:
        if not happened or rng.random() < 0.02:
            pace, delay, pauses = rng.choice((2, 5, 30)), rng.choice((1, 3, 8)), rng.choice((0, 0.03))
        now += rng.randint(0, 2 * length // pace)
        happened.append((now, 1, "sent", now))
        if rng.random() < pauses:
            happened.append((now + rng.randint(0, length), 4, "limited", now))
        if rng.random() < rng.choice((0, 0, 0.2)):
            lost.append((now + rng.randint(1, 3 * length), now))
        else:
            acked = max(acked, now + rng.randint(0, delay * length))
            happened.append((acked, 2, "acked", now))
    acks = [(at, sent) for at, _, kind, sent in happened if kind == "acked"]
    for found, at in lost:
        overtaken = [ack for ack, sent in acks if sent > at]
        happened += [(max(found, min(overtaken)), 3, "lost", at)] if overtaken else []
    return sorted(event for event in happened if event[0] <= steps * length)


def observations(happened, steps, length, packet):
    """Return a sender's observations at the end of each step."""
    times = {kind: [at for at, _, k, _ in happened if k == kind] for kind in ("sent", "acked")}
    # A loss is seen by the end of the step after the one in which the packet was sent, or when it is found.
    found = [max(-(-at // length), -(-sent // length) + 1) for at, _, kind, sent in happened if kind == "lost"]
    times["lost"] = sorted(step * length for step in found)
    acked = [-(-sent // length) for _, _, kind, sent in happened if kind == "acked"]
    first_out = {step: at for at in reversed(times["sent"]) for step in [max(1, -(-at // length))]}
    limited = steps_limited(happened, first_out, steps, length)
    # One tells of a full buffer that was found as early as can be, but for that of the step's first packet.
    timely = [
        step
        for step, sent in sorted(zip(found, (sent for *_, kind, sent in happened if kind == "lost"), strict=True))
        if step == -(-sent // length) + 1 and sent > first_out[max(1, step - 1)]
    ]
    last = first = before = delivered = excess = 0
    for step in range(steps + 1):
        count = {kind: bisect_right(column, step * length) if step else 0 for kind, column in times.items()}
        if count["acked"] > delivered:
            last, first = step - acked[count["acked"] - 1], step - acked[delivered]
            delivered = count["acked"]
        sent, lost = count["sent"] * packet, count["lost"] * packet
        # Two packets in a step may be lost as they come whole.
        excess += max(0, (timely.count(step) - 2) * packet)
        told = bisect_right(timely, step) * packet
        rate = Fraction(sent - before)
        seen = Observation(step, sent, delivered * packet, lost, lost, None, last, first, rate, told, excess)
        yield replace(seen, limited=step in limited)
        before = sent


def steps_limited(happened, first_out, steps, length):
    """Those with a pause in them, with fewer than two packets, or whose first packet is late by more than two."""
    limited, paused = set(), None
    for at, _, kind, _ in [*happened, (steps * length, 5, "sent", None)]:
        if kind == "limited" and paused is None:
            paused = at
        if kind == "sent" and paused is not None:
            limited.update(range(max(1, -(-paused // length)), -(-at // length) + 1))
            paused = None
    sent = Counter(max(1, -(-at // length)) for at, _, kind, _ in happened if kind == "sent")
    for step in range(1, steps + 1):
        if sent[step] < 2 or first_out[step] - (step - 1) * length > 2 * length // min(64, sent[step]):
            limited.add(step)
    return limited


def compare_events(built, seed, steps=21, length=1000):
    """Random events, as they come to the C, and by steps to the Python."""
    rng = Random(seed)
    happened = events(rng, steps, length)
    path = link(built.export, rng)
    expected, packet = reference(built.export, path), path.packet
    sender = built.sender(packet, rtt=int(length / built.export.step))
    sender_rates = []
    waiting = list(reversed(happened))
    for seen in observations(happened, steps, length, packet):
        while waiting and waiting[-1][0] <= seen.step * length and seen.step:
            at, _, kind, sent = waiting.pop()
            arguments = {"sent": (at, packet), "limited": (at,)}.get(kind, (at, sent, packet))
            getattr(sender, kind)(*arguments)
        rate = sender.rate(seen.step * length)
        per_step = floor(max(packet, expected(seen)))
        assert rate == per_step * 10**9 // length
        assert sender.beliefs() == latest(expected), (seed, seen.step)
        sender_rates.append(rate)
    return sender_rates


@needs_compiler
@pytest.mark.parametrize("name", each_nth(12, SHIPPED))
def test_random_events(name):
    """Event by event, however odd the sequence."""
    rates = {rate for seed in range(20) for rate in compare_events(library(name), seed)}
    assert len(rates) > 3


@pytest.mark.slow
@needs_compiler
@every_controller
def test_random_events_of_all_controllers(name):
    """10^5 sequences in all."""
    for seed in range(1000, 1000 + ceil(10**5 / len(SHIPPED))):
        compare_events(library(name), seed, steps=11)


@needs_compiler
@pytest.mark.parametrize(
    "name, compiler", each_nth(2 * len(COMPILERS) + 1, [(name, compiler) for name in SHIPPED for compiler in COMPILERS])
)
def test_compiles_without_warnings(name, compiler, tmp_path):
    _, source = write(header.make(name), "c", tmp_path)
    flags = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-O2", "-c"]
    subprocess.run([compiler, *flags, source, "-o", tmp_path / "out.o"], check=True)


@pytest.mark.skipif("gcc" not in COMPILERS, reason="no gcc on this machine")
@pytest.mark.parametrize("name", each_nth(12, SHIPPED))
def test_clean_under_sanitizers(name, tmp_path):
    """A program of random events, with addresses and undefined behaviour checked."""
    _, source = write(header.make(name), "c", tmp_path)
    (tmp_path / "main.c").write_text(SANITIZED.replace("NAME", name))
    flags = ["-std=c99", "-g", "-fsanitize=address,undefined"]
    program = tmp_path / "program"
    subprocess.run(["gcc", *flags, "-fno-sanitize-recover=all", source, tmp_path / "main.c", "-o", program], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1


SANITIZED = """
#include <inttypes.h>
#include <stdio.h>
#include "NAME.h"

int main(void)
{
    static struct ccm_sender s;
    uint64_t state = 88172645463325252ULL, now = 0, sum = 0, acked = 0, sent = 0;

    ccm_init(&s, now, 1000, 1500);
    for (int i = 0; i < 200000; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        now += state % 64 ? state % 97 : state % 100000;
        if (state & 256) {
            ccm_sent(&s, now, 1500);
            sent += 1500;
        } else if (acked < sent) {
            if (state & 512)
                ccm_acked(&s, now, now - now % 1024, 1500);
            else
                ccm_lost(&s, now, now - now % 1024, 1500);
            acked += 1500;
        }
        ccm_rtt(&s, 500 + state % 1000);
        sum += ccm_rate(&s, now) > 0;
    }
    printf("%" PRIu64 "\\n", sum);
    return 0;
}
"""

TRACES = [*saved_traces("results/proofs/*-traces/*.json").values()]


@needs_compiler
@pytest.mark.parametrize("traces, least", each_nth(2, [(TRACES[::15], 20), (TRACES, 300)]), ids=["some", "all"])
def test_decisions_on_saved_counterexamples(traces, least):
    """At every step of each trace in proofs/, in units in which all beliefs are whole numbers: the same decision."""
    names = {cca.load(SYNTHESIZED / f"{name}.py").body: name for name in SHIPPED}
    decided = 0
    for trace in traces:
        if is_stateful(trace.controller):
            continue
        controller = cca.parse(trace.controller)
        if controller.is_envelope:
            continue
        built = library(names[controller.body])
        units = {belief.name: belief.unit.bytes_power for belief in built.export.model.beliefs}
        columns = {name: trace.columns[name] for name in controller.parameters if name in units}
        mss = Fraction(trace.constants["MSS"])
        scale = lcm(mss.denominator, *(Fraction(value).denominator for column in columns.values() for value in column))
        for t in range(trace.horizon):
            exact = {name: Fraction(column[t]) for name, column in columns.items()}
            whole = {name: int(value * scale ** units[name]) for name, value in exact.items()}
            rate = controller.rate({**exact, "MSS": mss, "R_m": 1, "D": 1})
            assert built.decide(whole, int(mss * scale)) == max(0, floor(rate * scale))
            decided += 1
    assert decided > least


@pytest.mark.parametrize(
    "source, expected",
    [
        ("def rate(C_L):\n    return C_L * 5000000", "64 bits"),
        ("def rate(C_L, D, R_m):\n    return C_L * D / (D - R_m)", "divides by"),
    ],
)
def test_what_c_cannot_hold(source, expected, tmp_path):
    file = tmp_path / "large.py"
    file.write_text(source)
    with pytest.raises(InputError, match=expected):
        header.make(str(file)).header()


def test_model_of_fewest_beliefs():
    assert header.make("cc_qdel").model.name == "ccac"
    assert header.make("cc_probe_slow").model.name == "cbr_delay"
    with pytest.raises(InputError, match="C_Llambda"):
        header.make("cc_probe_slow", model="ccac")


@needs_compiler
def test_start_with_another_controller():
    """cc_probe_slow sends as cc_qdel does until more than two packets are lost in a step (section 6.4)."""
    sender = Library(header.make("cc_probe_slow")).sender(1500)
    rates = [
        sender.step(1500 * sent, 1500 * acked, 1500 * lost, 0, 0)
        for sent, acked, lost in [(1, 1, 0), (9, 9, 0), (27, 27, 0), (81, 76, 5), (82, 77, 5)]
    ]
    assert rates[:3] == [2 * 1500, 2 * 4 * 1500, 2 * 9 * 1500]
    assert rates[3] == 3 * sender.beliefs()["C_Llambda"] + 1500 or rates[3] < rates[2]
