"""Who chooses the rates of an envelope when its proof is put to the test: at random, or to do harm.

A policy is a function from the Rates that are allowed, and what the sender has seen, to one of them.
"""

from fractions import Fraction

#: Of an envelope a random policy chooses one of so many shares, and both ends.
SHARES = 8


def policy(result, rng, simulation):
    """One of those below, by the random choices of `rng`. result: the Result that is tested; simulation: in which the
    flow is, that a hostile policy may look at."""
    return rng.choice(KINDS)(result, rng, simulation)


def _at(share):
    """The policy that chooses a share of the way from the least to the most, which it is told of what is seen."""
    return lambda allowed, seen: allowed.low + share(seen) * (allowed.high - allowed.low)


def _uniform(result, rng, simulation):
    return _at(lambda seen: Fraction(rng.randint(0, SHARES), SHARES))


def _ends(result, rng, simulation):
    return _at(lambda seen: rng.randint(0, 1))


def _for_a_while(result, rng, simulation):
    """A random share, which it changes now and then."""
    kept = []

    def share(seen):
        if not kept or rng.random() < 0.2:
            kept[:] = [Fraction(rng.randint(0, SHARES), SHARES)]
        return kept[0]

    return _at(share)


def _by_what_it_sees(result, rng, simulation):
    """As a trained policy: the same share wherever the delay is the same, and what is out about the same."""
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
    """The end that is farther from the link's rate, which no sender knows."""

    def choose(allowed, seen):
        rate = simulation.path.rate * simulation.path.propagation
        return max(allowed, key=lambda end: abs(end - rate))

    return choose


def _as_in_a_trace(result, rng, simulation):
    """What the window does that shows that a constant is no better, over and over."""
    traces = [optimum.edge.trace for optimum in result.constants.values() if optimum.edge and optimum.edge.trace]
    if not traces:
        return _low(result, rng, simulation)
    trace = rng.choice(traces)
    allowed, rates = trace.allowed(result.controller), trace.columns["r"][1:]
    shares = [
        (rate - low) / (high - low) if high > low else 0 for (low, high), rate in zip(allowed, rates, strict=True)
    ]
    return _at(lambda seen: shares[(seen.step - 1) % len(shares)])


#: Each makes a policy, of what `policy` is given.
KINDS = (
    *(_uniform, _ends, _for_a_while, _by_what_it_sees),
    *(_low, _high, _alternating, _against, _as_in_a_trace),
)
