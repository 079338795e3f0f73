"""Policies that choose rates in an envelope, for the simulation test of a proof. Some are random, and some are hostile.

A policy is a function of the allowed range of rates and the sender's observation. The function returns one of the
allowed rates.
"""

from fractions import Fraction

#: The number of equal parts into which random policies divide an envelope.
SHARES = 8


def policy(result, rng, simulation):
    """Return one of the policies below, chosen by `rng`."""
    return rng.choice(KINDS)(result, rng, simulation)


def _at(share):
    """Return the policy whose rate lies `share(seen)` of the way from the lowest allowed rate to the highest."""
    return lambda allowed, seen: allowed.low + share(seen) * (allowed.high - allowed.low)


def _uniform(result, rng, simulation):
    """Choose a new random share at each step."""
    return _at(lambda seen: Fraction(rng.randint(0, SHARES), SHARES))


def _ends(result, rng, simulation):
    """Choose one of the two ends at random at each step."""
    return _at(lambda seen: rng.randint(0, 1))


def _for_a_while(result, rng, simulation):
    """Keep a random share, and change this share from time to time."""
    kept = []

    def share(seen):
        if not kept or rng.random() < 0.2:
            kept[:] = [Fraction(rng.randint(0, SHARES), SHARES)]
        return kept[0]

    return _at(share)


def _by_what_it_sees(result, rng, simulation):
    """Behave like a trained policy: choose the same share after equal delays and similar bytes in flight."""
    table = {}

    def share(seen):
        out = (seen.sent - seen.delivered - seen.lost) // (10 * simulation.path.packet)
        return table.setdefault((seen.last, out), Fraction(rng.randint(0, SHARES), SHARES))

    return _at(share)


def _low(result, rng, simulation):
    return _at(lambda seen: 0)


def _high(result, rng, simulation):
    return _at(lambda seen: 1)


def _alternating(result, rng, simulation):
    period = rng.choice((1, 2, 5))
    return _at(lambda seen: seen.step // period % 2)


def _against(result, rng, simulation):
    """Choose the end that is farther from the link's rate. No real sender knows this rate."""

    def choose(allowed, seen):
        rate = simulation.path.rate * simulation.path.propagation
        return max(allowed, key=lambda end: abs(end - rate))

    return choose


def _as_in_a_trace(result, rng, simulation):
    """Repeat the choices of a window that breaks a lemma at the next better value of some constant."""
    traces = [optimum.edge.trace for optimum in result.constants.values() if optimum.edge and optimum.edge.trace]
    if not traces:
        return _low(result, rng, simulation)
    trace = rng.choice(traces)
    allowed, rates = trace.allowed(result.controller), trace.columns["r"][1:]
    shares = [
        (rate - low) / (high - low) if high > low else 0 for (low, high), rate in zip(allowed, rates, strict=True)
    ]
    return _at(lambda seen: shares[(seen.step - 1) % len(shares)])


#: The functions that make policies. Their arguments are those of `policy`.
KINDS = (
    *(_uniform, _ends, _for_a_while, _by_what_it_sees),
    *(_low, _high, _alternating, _against, _as_in_a_trace),
)
