"""Learners' observations, rewards and actions."""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from ccmatic.controllers import signal
from ccmatic.deployment import policies
from ccmatic.worlds.runtime.library import Library, LibraryFlow
from conformance.plain_signals import PlainSender
from conformance.worlds import Kind, Number
from support.policies import Interval, deciding, pointer, policy, said

PACKET, SECONDS, RTT = 1500, 0.02, 0.02

#: Bytes per second that the link serves, which some rewards know.
CAPACITY = 10**6

#: By name: observation, action and reward. Exported policies have those in C.
TRIPLES = {
    "custard": ("custard", "custard", "custard"),
    "power": ("custard", "per_rtt", "power"),
    "vivace_loss": ("custard", "custard", "vivace_loss"),
    "relative": ("custard", "custard", "relative"),
    "aurora": ("aurora", "aurora", "aurora"),
    "orca": ("orca", "orca", "orca"),
    "cubic": ("orca", "cubic", "orca"),
    "ltp": ("ltp", "ltp", "ltp"),
    "ltp_fair": ("ltp", "ltp", "ltp_fair"),
    "marks": (str(Path(__file__).with_name("marks.py")), "custard", "custard"),
}


def formulas(name):
    """Return the observations, the reward and the action of a name."""
    observe, act, reward = TRIPLES[name]
    return tuple(signal.load(*each) for each in (("observe", observe), ("reward", reward), ("act", act)))


class Measured(NamedTuple):
    """A sequence of intervals, as Interval has them, an action after each; `number` of them are over."""

    rows: tuple
    actions: tuple
    number: int


def cases(name, rng, count) -> Iterator[Measured]:
    """Yield possible measurements of a sender, including: nothing sent, no acknowledgement for long, all lost, and
    equal RTTs.
    """
    most = signal.load("act", TRIPLES[name][1]).bounds[1]
    for _ in range(count):
        rtt, rows, actions = RTT, [], []
        for _ in range(8):
            size = rng.choice((PACKET, 10**4, 10**6, 10**8))
            sent, acked, lost, out = (rng.choice((0, size, rng.randint(0, size))) for _ in range(4))
            marked = rng.choice((0, acked, rng.randint(0, acked)))
            first = rng.choice((rtt, RTT, RTT / 2, RTT + 0.03 * rng.random(), RTT + rng.random()))
            rtt = rng.choice((first, first / 2, RTT + 0.03 * rng.random())) if acked else rtt
            rows.append((SECONDS, sent, acked, lost, first if acked else rtt, rtt, out, marked))
            actions.append(rng.choice((-most, 0, most, rng.uniform(-most, most))))
        yield Measured(tuple(rows), tuple(actions), len(rows))


@cache
def _exactly(name, rows, actions):
    """Observation, reward and rate after each interval, by the files' own Python."""
    observe, reward, act = (each.file for each in formulas(name))
    known = {**signal.IN_SECONDS, "R_m": RTT, "MSS": PACKET, "capacity": CAPACITY, "throughput_deviation": 0.0}
    sender, rate, after = PlainSender((observe, reward, act), SECONDS, known | {"action": 0.0}), 10 * PACKET / RTT, []
    for row, action in zip(rows, actions, strict=True):
        interval = dict(zip(signal.INTERVAL, map(float, np.float32(row)), strict=True))
        sender.known["throughput_sum"] = interval["acked"] / interval["seconds"]
        sender.measure(interval)
        rewarded = sender.value(reward, "reward")
        vector = sender.value(observe, "observe", reward=rewarded)
        asked = sender.value(act, "act", rate=rate, action=float(np.float32(action)))
        rate = min(max(asked, PACKET / SECONDS), FASTEST)
        observed = {f"observation {place}": float(each) for place, each in enumerate(vector)}
        after.append(observed | {"reward": float(rewarded), "rate": float(rate)})
    return after


def exact(name, of_c=False):
    """By the files' own Python, in floats of 64 bits."""

    def of(measured):
        outputs = _exactly(name, measured.rows, measured.actions)[measured.number - 1]
        return {each: Number(value) for each, value in outputs.items() if not (of_c and each == "reward")}

    return of


#: Bytes per second, which no exported sender exceeds.
FASTEST = 1e10


def in_arrays(name):
    """The formulas' trees on arrays of float32."""
    from ccmatic.learning.envs import signals

    observe, reward, act = formulas(name)
    memory = signal.memory_of((observe, reward, act))
    array = partial(np.full, (1, 1), dtype=np.float32)

    def run(measured):
        known = signals.first(array(SECONDS), array(RTT), array(PACKET), memory, capacity=array(CAPACITY))
        rate = array(10 * PACKET / RTT)
        for number, (row, action) in enumerate(zip(measured.rows, measured.actions, strict=True), 1):
            known = known.after(signals.Interval(*map(array, row)), memory)
            rewarded = known.value(reward.term)
            vector = known.value(observe.term, reward=rewarded)[0, 0]
            known = known._replace(action=array(action))
            rate = np.minimum(np.maximum(known.value(act.term, rate=rate), PACKET / SECONDS), array(FASTEST))
            outputs = {f"observation {place}": float(each) for place, each in enumerate(vector)}
            outputs |= {"reward": float(rewarded[0, 0]), "rate": float(rate[0, 0])}
            yield measured._replace(number=number), outputs

    return run


def in_c(name):
    """An exported policy that decides after each interval; its action is that of its network for what it observed."""
    observe, act, reward = TRIPLES[name]
    with TemporaryDirectory() as folder:
        made = policy(Path(folder) / f"{name}.json", observe=observe, act=act, reward=reward, history=1, sizes=(4,))
        library = Library(policies.exported(made), ("-O0",))
    decide, size = deciding(library), formulas(name)[0].size

    def run(measured):
        sender, actions, decided = LibraryFlow(library, PACKET, int(RTT * 10**9)), [], []
        for row in measured.rows:
            observed = np.zeros(size, np.float32)
            rate = decide(sender._pointer, Interval(*row), SECONDS, pointer(observed))
            actions.append(float(np.clip(said(made, observed), *made.bounds)))
            decided.append(
                {f"observation {place}": float(each) for place, each in enumerate(observed)} | {"rate": rate}
            )
        for number, outputs in enumerate(decided, 1):
            yield Measured(measured.rows, tuple(actions), number), outputs

    return run


SIGNALS = Kind(
    name="observations, rewards and actions",
    weight=4,
    definitions=tuple(TRIPLES),
    cases=cases,
    exact=exact,
    worlds={"arrays": in_arrays},
)

#: A policy in C observes and acts; its reward is seen only where it is observed.
DEPLOYED_SIGNALS = Kind(
    name="observations and actions of exported policies",
    weight=3,
    definitions=tuple(TRIPLES),
    cases=cases,
    exact=partial(exact, of_c=True),
    worlds={"C floats": in_c},
)
