"""Step 1 of Theorem 6.1 on concrete executions: link II imitates link I packet by packet.

Each execution is first simulated on link I without loss, with delays of at most D. Then the same sender runs on link
II. The delay box of link II tries to release each packet at the time of its release on link I.
"""

from dataclasses import replace
from fractions import Fraction
from random import Random

from ccmatic.base import definitions
from ccmatic.networks.simulation import Path, simulate

#: Four constants: the packets that link I serves per step, the number of steps in an execution, the seeds of the
#: senders, and the ratios C_II / C_I.
RATE, STEPS, SEEDS, FACTORS = 12, 40, range(12), (1, 3, 100)

#: The largest jitter D in steps. The second constant has pairs: link I's buffer in packets, and the largest delay in
#: steps that the box of link I adds.
JITTER, SHALLOW, DEEP = 2, ((2 * RATE, 0), (RATE, 1)), ((3 * RATE, 0),)

#: For each hypothesis of the theorem, an execution that violates it.
BREAKS = {
    "shallow buffer": "β = 3/2·C·D",
    "no needless jitter": "link I delays by D what it has queued already",
    "faster link": "C_II = C_I/2",
    "deterministic sender": "it also throws dice",
}
COVERS = f"{len(SEEDS) * len(SHALLOW) * len(FACTORS)} executions of {STEPS} steps, packet by packet"


def examine(broken=None):
    """Return the first instant at which link II cannot imitate link I, as numbers by name; None if it always can.

    `broken` is the hypothesis to violate, a key of BREAKS, or None.
    """
    factors = (Fraction(1, 2),) if broken == "faster link" else FACTORS
    for room, most in DEEP if broken == "shallow buffer" else SHALLOW:
        most = JITTER if broken == "no needless jitter" else most
        for factor in factors:
            for seed in SEEDS:
                witness = _difference(room, most, factor, seed, dice=broken == "deterministic sender")
                if witness:
                    return witness
    return None


def _difference(room, most, factor, seed, dice):
    rate = RATE * factor
    link = definitions.chosen("models", "EMULATED")
    one = Path(link, Fraction(RATE), jitter=JITTER, buffer=Fraction(room)).finer((rate,))
    two = replace(one.at_rate(rate), buffer=Fraction(max(1, room * factor)))
    shown = simulate(one, _sender(room, seed, dice), STEPS, seed, jitter=_adding(most))
    if shown.lost.any():
        raise AssertionError(f"seed {seed}: link I loses packets, expected none")
    releases = iter(shown.released.tolist())
    again = simulate(
        two,
        _sender(room, seed + 1 if dice else seed, dice),
        STEPS,
        seed,
        jitter=lambda *_: lambda now: next(releases, now),
    )
    for i, (sent, released, sent_again) in enumerate(zip(shown.sent, shown.released, again.sent, strict=True)):
        jitter = Fraction(int(released - again.started[i]), one.step)
        if sent != sent_again or again.lost[i] or released != again.released[i] or not 0 <= jitter <= JITTER:
            times = {"sent": sent, "sent on II": sent_again, "released": released, "admitted on II": again.started[i]}
            steps = {name: Fraction(int(ticks), one.step) for name, ticks in times.items()}
            return {"packet": Fraction(i), **steps, "jitter of II": jitter, "D": Fraction(JITTER)}
    return None


def _sender(room, seed, dice):
    """Return a sender as a function of an Observation. The sender's rate varies with the seed and the observations.

    The packets in flight never exceed the sum of the pipe and the buffer.
    """
    random = Random(seed)

    def rate(seen):
        fits = RATE + room - (seen.sent - seen.delivered) - 1
        delay = int(100 * (seen.delay or 0))
        likes = random.randrange(3 * RATE) if dice else (7 * seen.step * seed + 5 * seen.delivered + delay) % (3 * RATE)
        return Fraction(max(1, min(likes, fits)))

    return rate


def _adding(most):
    """Return a jitter pattern: up to `most` steps at random if `most` is below D, and otherwise always D."""
    return lambda rng, bound, step: lambda now: now + (rng.randint(0, most * step) if most < JITTER else most * step)
