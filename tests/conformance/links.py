"""Links: what their simulators do are executions of their laws."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise
from random import Random
from typing import NamedTuple

from ccmatic import query as queries
from ccmatic.contracts import Buffer, load_definition, observed
from ccmatic.exporting import header
from ccmatic.runtime.library import Library
from ccmatic.runtime.stateful_library import StatefulSender
from ccmatic.simulation import HIDING, JITTER, Path, Simulation, WindowFlow, simulate
from ccmatic.verification import check_trace
from conformance.worlds import Kind, Number

PACKET = 1500

#: Models of a rate, and models of a window with their D; the published laws are those of a run from its beginning on.
BY_RATE = ("ideal", "cbr_delay", "ccac", "varying")
BY_WINDOW = {"ccac_windows": 1, "cbr_delay_windows": 1, "ideal_windows": 0}
#: Senders by a window, with and without a rate.
SENDERS = ("aimd", "constant_window", "cubic", "copa", "bbr")


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


def by_rate(run):
    """A sender at random rates, far above the link's, far below or near it, packet by packet; a part of the run."""
    rng = Random(run.seed)
    bdp, steps = rng.randint(6, 60), rng.randint(8, 16)
    rates = [rng.choice((1, bdp - 1, bdp, bdp + 1, 3 * bdp, rng.randint(1, 10 * bdp))) for _ in range(steps)]
    jitter, room = 0 if run.model == "ideal" else rng.randint(1, 2), rng.choice((None, rng.randint(1, 4 * bdp)))
    simulated = simulate(
        Path(run.model, rate=bdp, jitter=jitter, buffer=room),
        lambda seen: rates[seen.step],
        steps,
        seed=run.seed,
        initial_queue=rng.choice((0, 1, bdp, room or 2 * bdp, 5 * bdp)),
        jitter=rng.choice(sorted(JITTER)),
        hiding=rng.choice(sorted(HIDING)),
    )
    start = rng.randint(1, steps - 4)
    trace = simulated.trace(start, rng.randint(4, steps + 1 - start), alpha=Fraction(1, 2 * bdp))
    buffer = str(trace.constants.get("beta", "infinite"))
    query = queries.make(run.model, buffer, trace.horizon, jitter=jitter, delay="executions")
    yield (
        run,
        {"broken laws": {str(fault) for fault in check_trace(query, trace.measuring(query.model.measures)).faults}},
    )


@cache
def _library(name):
    return Library(header.make(name), ("-O0",))


def by_window(run):
    """An exported sender by a window, packet by packet, from some step of it on; C·R_m is 1."""
    rng, steps = Random(run.seed), 24
    bdp, room, begin = rng.choice((4, 10, 25)), rng.choice((2, 8, 40)), rng.choice((0, 9))
    D = BY_WINDOW[run.model]
    path = Path("cbr_delay", PACKET * bdp, 1, PACKET, 1, PACKET * room)
    simulation = Simulation(path, run.seed, jitter=rng.choice(sorted(JITTER)) if D else "none")
    flow = WindowFlow(simulation, StatefulSender(_library(rng.choice(SENDERS)), PACKET))
    lost, found, window = [0], [0], [1]
    for _ in range(begin + steps):
        flow.step()
        lost.append(flow.seen.lost // PACKET)
        found.append(flow.found)
        window.append(flow.sender.window() // PACKET)
    samples = {name: list(map(int, column[begin:])) for name, column in simulation.run().samples.items()}
    columns = {"L": samples["L"], "Ld": lost[begin:], "found": found[begin:], "cwnd": window[begin:]}
    columns |= {name: [number - samples["S"][0] for number in samples[name]] for name in "AS"}
    columns["W"] = [t * bdp - (tokens - samples["S"][0]) for t, tokens in enumerate(samples["K"])]
    columns["r"] = _rates(columns)
    scaled = {name: [Fraction(number, bdp) for number in column] for name, column in columns.items()}
    scaled["Q"] = [delay if served else steps + 1 for delay, served in zip(samples["Q"], samples["S"], strict=True)]
    yield run, {"broken laws": _broken(run.model, D, Fraction(1, bdp), Fraction(room, bdp), scaled)}


def _rates(columns):
    """What left more slowly than the window allows left at the sender's rate; the rate of other steps is large."""
    A, S, Ld, window = (columns[name] for name in ("A", "S", "Ld", "cwnd"))
    allowed = (served + lost + most for served, lost, most in zip(S, Ld[1:], window[1:], strict=False))
    steps = zip(pairwise(A), allowed, strict=True)
    return [10**6, *(10**6 if after == max(before, most) else after - before for (before, after), most in steps)]


class Recorded(NamedTuple):
    """An execution in C·R_m, as `contracts.observed` reads it."""

    horizon: int
    constants: dict
    columns: dict


def _broken(model, D, packet, beta, columns):
    constants = {"MSS": packet, "beta": beta, "tokens_at_first": 0}
    recorded, model = Recorded(len(columns["A"]), constants, columns), load_definition("models", "MODEL", model)
    view = observed(model, Buffer("exactly", beta), D, recorded, ())
    return {str(law) for law in model.laws(view) if law.formula is not True}


def in_fluid(run):
    """Random rates on some links of the fluid simulator; laws are checked in windows of it."""
    import jax

    from ccmatic.learning import Asked, Environment, Policy, lawful
    from ccmatic.learning.envs import rollout

    def act(key, links, state, seen):
        key, now = jax.random.split(key)
        return key, MOST_RATE * jax.random.uniform(now, seen.shape[:2]) ** 2

    key = jax.random.key(run.seed)
    asked = Asked(steps=60, rate=[12, 32], rtt=32, buffer_bdp=[0.2, 2], jitter=[0, 4, 20])
    environment = Environment(asked, act="rate")
    episode = rollout(environment, Policy(lambda links: key, act), key, LINKS)
    yield run, {"broken laws": set(lawful(episode, windows=20, seed=run.seed).broken)}


#: Links that are played at once, and the most that senders send on them, in bytes per second.
LINKS, MOST_RATE = 9, 12e6


PACKETS = Kind(
    name="links by a rate", definitions=BY_RATE, cases=cases, exact=exact, worlds={"packets": lambda name: by_rate}
)
WINDOWS = Kind(
    name="links by a window",
    definitions=tuple(BY_WINDOW),
    cases=cases,
    exact=exact,
    worlds={"packets": lambda name: by_window},
)
FLUIDS = Kind(
    name="links as fluids",
    definitions=("drop-tail with jitter",),
    cases=cases,
    exact=exact,
    worlds={"fluid": lambda name: in_fluid},
)
