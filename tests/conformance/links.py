"""Links: what their simulators do are executions of their laws."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import NamedTuple

from ccmatic.answers.verification import check_trace
from ccmatic.base import definitions
from ccmatic.contracts import PACKETS as PACKETS_FILE
from ccmatic.contracts import load_definition, world
from ccmatic.networks.simulation import HIDING, JITTER, Path, simulate
from ccmatic.questions import query as queries
from conformance.updates import library
from conformance.worlds import Kind, Number
from support import window_runs, window_senders

#: Every model that is shipped, and those that have no packets.
MODELS = tuple(sorted({model.name for model in definitions.every("models", "MODEL")}))
WITHOUT_PACKETS = (
    "ccac2021",
    "changing_windows",
    "lossy_windows",
    "marking_windows",
    "policer_windows",
    "smooth_windows",
)

#: The packets on which windows run, by network; others run on CBR-delay's.
OF_WINDOWS = {
    "ccac_windows": "ccac",
    "lossy_windows": "lossy",
    "marking_windows": "marking",
    "policed": "policed",
    "policer_windows": "policer",
}

#: Links of the fluid simulator, which are held to the laws of their model.
FLUID = {
    "one flow": {"rate": [12, 32], "rtt": 32, "jitter": [0, 4, 20]},
    "three flows": {"flows": 3, "rtt": [16, 32], "jitter": 5, "links": "changing", "period": 0.7},
    "policers": {"model": "policer", "flows": 3, "rtt": [16, 32], "jitter": 5, "links": "changing", "period": 0.7},
    "marks": {"model": "marking", "threshold": [0.1, 0.5], "flows": 3, "rtt": [16, 32], "jitter": 5},
    "losses by chance": {
        "model": "lossy",
        "loss": [0.001, 0.1],
        "burst": 2,
        "rate": [12, 32],
        "rtt": 32,
        "jitter": [0, 20],
    },
}


class Run(NamedTuple):
    """A simulated run, by all that is random in it."""

    model: str
    seed: int


def cases(name, rng, count) -> Iterator[Run]:
    """Runs by different seeds."""
    for _ in range(count):
        yield Run(name, rng.randrange(2**32))


def exact(name):
    """No law is broken."""
    return lambda run: {"broken laws": Number(set())}


def in_packets(name):
    """The packet simulator, which refuses a link that has no packets."""
    world(load_definition("models", "MODEL", name), PACKETS_FILE)
    return by_rate


def by_rate(run):
    """A sender at random rates, far above the link's, far below or near it, packet by packet; a part of the run."""
    rng = Random(run.seed)
    bdp, steps = rng.randint(6, 60), rng.randint(8, 16)
    rates = [rng.choice((1, bdp - 1, bdp, bdp + 1, 3 * bdp, rng.randint(1, 10 * bdp))) for _ in range(steps)]
    model = load_definition("models", "MODEL", run.model)
    if model.threshold is not None:
        model = model.with_threshold(rng.choice((Fraction(0), Fraction(1, 4), Fraction(1), Fraction(5, 2))))
    jitter, room = (
        rng.randint(1, 2) if model.default_jitter else 0,
        rng.choice((None, rng.randint(1, 4 * bdp))),
    )
    if model.store == "bucket" or model.loses_by_chance:
        room = max(room or bdp, 2)
    simulated = simulate(
        Path(model, rate=bdp, jitter=jitter, buffer=room),
        lambda seen: rates[seen.step],
        steps,
        seed=run.seed,
        initial_queue=rng.choice((0, 1, bdp, room or 2 * bdp, 5 * bdp)),
        jitter=rng.choice(sorted(JITTER)),
        hiding=rng.choice(sorted(HIDING)),
    )
    start = rng.randint(1, steps - 4)
    alpha = Fraction(1, bdp if model.loses_by_chance else 2 * bdp)
    trace = simulated.trace(start, rng.randint(4, steps + 1 - start), alpha=alpha)
    buffer = str(trace.constants.get("beta", "infinite"))
    query = queries.make(trace.query["model"], buffer, trace.horizon, jitter=jitter, delay="executions")
    yield (
        run,
        {"broken laws": {str(fault) for fault in check_trace(query, trace.measuring(query.model.measures)).faults}},
    )


def by_window(run):
    """An exported sender by a window, packet by packet, from its beginning or a later step on."""
    rng, D = Random(run.seed), window_runs.OF_EXECUTIONS[run.model]
    built, begin = library(rng.choice(window_senders.CONTROLLERS)), rng.choice((0, 9))
    link = OF_WINDOWS.get(run.model, "cbr_delay")
    recorded = window_runs.execution(built, rng.randrange(2**32), begin, jittery=D > 0, link=link)
    yield run, {"broken laws": window_runs.broken(recorded, run.model, D)}


def in_fluid(run):
    """Random rates on some links of the fluid simulator; laws are checked in windows of it."""
    import jax

    from ccmatic.learning import Environment, LinkOptions, RolloutPolicy, lawful
    from ccmatic.learning.envs import rollout

    def act(key, links, state, seen):
        key, now = jax.random.split(key)
        return key, MOST_RATE * (jax.random.uniform(now, seen.shape[:2]) ** 2 + 0.01)

    key = jax.random.key(run.seed)
    environment = Environment(LinkOptions(steps=60, buffer_bdp=[0.2, 2], **FLUID[run.model]), act="rate")
    episode = rollout(environment, RolloutPolicy(lambda links: key, act), key, LINKS)
    yield run, {"broken laws": set(lawful(episode, windows=20, seed=run.seed).broken)}


#: Links that are played at once, and the most that senders send on them, in bytes per second.
LINKS, MOST_RATE = 9, 12e6


PACKETS = Kind(
    name="links by a rate",
    definitions=tuple(name for name in MODELS if name != "policed"),  # its senders have a window
    cases=cases,
    exact=exact,
    worlds={"packets": in_packets},
    refused={(name, "packets"): "has no packets.h" for name in WITHOUT_PACKETS},
)
WINDOWS = Kind(
    name="links by a window",
    definitions=tuple(window_runs.OF_EXECUTIONS),
    cases=cases,
    exact=exact,
    worlds={"packets": lambda name: by_window},
)
FLUIDS = Kind(
    name="links as fluids",
    definitions=tuple(FLUID),
    cases=cases,
    exact=exact,
    worlds={"fluid": lambda name: in_fluid},
)
MORE_FLUIDS = replace(FLUIDS, definitions=("three flows",))
