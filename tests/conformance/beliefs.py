"""What senders by a rate believe: the bounds and states of a model, as a sender works them out from what it sees."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from itertools import islice
from random import Random
from typing import NamedTuple

from ccmatic.contracts import load_definition
from ccmatic.controllers import load
from ccmatic.deployment.exporting import header
from ccmatic.networks.simulation import JITTER, DeployedController, Path, Simulation
from ccmatic.worlds.runtime.library import Library
from conformance.worlds import Kind, Number

#: Thirds of a packet are whole, so that float32 has C_Llambda exactly and decides as fractions do.
PACKET, BDP, STEPS = 3 * 2**10, 60, 80

#: The first upper bound, in bytes per step: what both worlds begin with, or more.
NO_BOUND = header.MOST

#: Seeds of links on which C_Llambda and q_U time out, C_L and C_U, none.
TIMEOUTS = (6, 11, 0, 1)

#: A controller that moves the beliefs of each model.
PROBES = {"ccac": "cc_qdel", "cbr_delay": "cc_probe_slow"}


class Believed(NamedTuple):
    """A sender's beliefs at the end of a step, on the simulated link of this seed."""

    model: str
    seed: int
    step: int


def _names():
    """Model and belief, of each belief of each model that has a probe."""
    return {f"{model} {belief.name}": (model, belief.name) for model in PROBES for belief in _model(model).beliefs}


@cache
def _model(name):
    return load_definition("models", "MODEL", name)


@cache
def _export(model):
    return replace(header.make(PROBES[model], model), at_start=None)


@cache
def _observations(model, seed):
    """Return the observations of a sender on a link that becomes faster, and then so slow that bounds are false."""
    rng = Random(seed)
    room, first = rng.choice((None, Fraction(1, 5), Fraction(1, 2), 3)), BDP * PACKET
    path = Path(model, first, 1, PACKET, 1, room and int(room * first))
    rates = {rng.randint(5, 30): 2 * first, rng.randint(31, 60): first // rng.choice((3, 10))}
    simulation = Simulation(path, seed, rng.choice((0, first // 2)), rng.choice(sorted(JITTER)), rates=rates.values())
    sender, seen = _deployed(model, path), []
    for step in range(STEPS):
        seen.append(simulation.observation)
        rate = sender(seen[-1])
        simulation.step(rate if rng.random() < 0.9 else rng.choice((1, 1, PACKET, 9 * first)))
        if step in rates:
            simulation.change_rate(rates[step])
    return path, seen


def _deployed(model, path, **options):
    start = {"C_L": PACKET, "C_U": Fraction(NO_BOUND), "C_Llambda": PACKET}
    return DeployedController(
        _model(model), load(PROBES[model]), path, _export(model).horizon - 1, start, PACKET, **options
    )


@cache
def _exact(model, seed, rounds):
    """The beliefs after each step, by name, of a sender in Python. rounds: whether it keeps whole numbers."""
    path, seen = _observations(model, seed)
    sender = _deployed(model, path, **({"kept": header.rounded} if rounds else {}))
    after = []
    for each in seen:
        sender(each)
        after.append({name: column[-1] for name, column in sender._x.beliefs.items()})
    return after


def cases(name, rng, count) -> Iterator[int]:
    """Seeds, the same for all beliefs; those come first on whose links each belief times out."""
    yield from islice((*TIMEOUTS, *range(100, 100 + count)), count)


def exact(name, rounds=False):
    """By the samples that the model declares."""
    model, belief = _names()[name]
    return lambda at: {belief: Number(_exact(model, at.seed, rounds)[at.step][belief])}


@cache
def _library(model):
    return Library(_export(model), ("-O0",))


@cache
def _in_c(model, seed):
    path, seen = _observations(model, seed)
    sender = _library(model).sender(path.packet)
    after = [None]
    sender(seen[0])
    for each in seen[1:]:
        sender(each)
        after.append(sender.beliefs())
    return after


@cache
def _arrays():
    import jax
    import jax.numpy as jnp

    from ccmatic.learning.envs import beliefs

    begin = partial(beliefs.begin, jnp.ones((1, 1)), PACKET)
    return begin, jax.jit(lambda bounds, *row: _named(bounds.after(*row)))


def _named(bounds):
    return bounds, bounds.named()


@cache
def _in_arrays(model, seed):
    begin, step = _arrays()
    _, seen = _observations(model, seed)
    bounds, before, after = begin(), (0, 0, 0), [None]
    bounds = bounds.starting(C_U=_one(NO_BOUND))
    for each in seen[1:]:
        total = each.sent, each.delivered, each.lost
        counts = (now - then for now, then in zip(total, before, strict=True))
        bounds, named = step(bounds, *map(_one, (*counts, each.last, each.first)))
        before = total
        after.append({name: float(value[0, 0]) for name, value in named.items()})
    return after


def _one(number):
    import jax.numpy as jnp

    return jnp.full((1, 1), float(number), jnp.float32)


def _carried(steps):
    """A world in which the beliefs after each step are what a function of model and seed says."""

    def world(name):
        model, belief = _names()[name]

        def run(seed):
            for step, after in enumerate(steps(model, seed)):
                if after:
                    yield Believed(model, seed, step), {belief: after[belief]}

        return run

    return world


BELIEFS = Kind(
    name="beliefs",
    definitions=tuple(_names()),
    cases=cases,
    exact=exact,
    worlds={"arrays": _carried(_in_arrays)},
)

#: An exported sender rounds bounds after each step, to the safe side, and goes on from there.
ROUNDED = Kind(
    name="beliefs, rounded at each step",
    weight=10,
    definitions=tuple(_names()),
    cases=cases,
    exact=partial(exact, rounds=True),
    worlds={"C": _carried(_in_c)},
)
