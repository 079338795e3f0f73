"""Runs of exported controllers on paths that change once, as executions of `changing_windows`."""

from fractions import Fraction
from random import Random

from ccmatic.networks.simulation import PathChange
from conformance.updates import library
from support import window_runs, window_senders

#: Rates that serve whole packets in a step, by the packets of the bdp.
FACTORS = {4: ("1/4", "1/2", "1", "2"), 10: ("1/5", "1/2", "1", "2"), 25: ("1/5", "3/5", "1", "2")}


def drawn(rng, begin, longest=3):
    """A function from the packets of the bdp and of the buffer to a PathChange after step `begin`.

    The change comes at an instant at which the link has served whole packets of the step, before and after it.
    """

    def change(bdp, room):
        rate = Fraction(rng.choice(FACTORS[bdp]))
        resume = rng.randint(2, 8) - Fraction(rng.randrange(bdp // rate.denominator + 1) * rate.denominator, bdp)
        outage = min(resume, Fraction(rng.randint(0, longest * bdp), bdp)) if rng.random() < 0.7 else Fraction(0)
        rtt = Fraction(rng.choice(("1", "1", "3/2", "2", "3")))
        buffer = rng.choice([Fraction(size, room) for size in (1, 2, room, 2 * room)])
        return PathChange(begin + resume - outage, outage, rate, rtt, buffer, rng.random() < 0.4)

    return change


def run_of(seed, jittery=None, link="cbr_delay"):
    """A run of an exported controller on a path that changes, and the model whose execution it is."""
    rng = Random(seed)
    built, begin = library(rng.choice(window_senders.CONTROLLERS)), rng.choice((0, 9))
    jittery, made = rng.random() < 0.7 if jittery is None else jittery, []
    change = drawn(rng, begin)

    def remembered(bdp, room):
        made.append(change(bdp, room))
        return made[-1]

    recorded = window_runs.execution(built, rng.randrange(2**32), begin, jittery, link, change=remembered)
    return recorded, made[0], begin, jittery


def model_of(change, begin, jittery=True, **replaced):
    """The name of the network whose executions such runs are."""
    texts = {name: str(getattr(change, name)) for name in ("rate", "rtt", "buffer", "outage")}
    texts |= {"queue": "lost" if change.loses else "kept", "at": str(change.at - begin), "waste": "constant-rate"}
    texts |= {} if jittery else {"D": "0"}
    return f"changing_windows:{','.join(f'{name}={text}' for name, text in (texts | replaced).items())}"


def broken(seed, jittery=None, **replaced):
    """The laws that a run breaks."""
    recorded, change, begin, jittery = run_of(seed, jittery)
    return window_runs.broken(recorded, model_of(change, begin, jittery, **replaced), int(jittery))
