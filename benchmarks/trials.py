"""The simulation test of a proof, on links whose rate changes.

The test simulates the deployed controller. No window of a run may break a lemma. The test also reports the smallest
distance of the windows from a violation. If the controller is an envelope, policies choose its rates.
"""

from bisect import bisect
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from random import Random

from ccmatic.answers.verification import check_trace as check
from ccmatic.base import InputError
from ccmatic.networks.simulation import HIDING, JITTER, DeployedController, Path, Simulation
from ccmatic.proving.prover import Prover, windows_of

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


#: The number of steps in a run, and the steps at whose end the link rate changes.
STEPS, CHANGES = 130, (40, 85)


class Trial:
    """The simulation test of a proof. A Trial simulates one run after another.

    Args:
        result: The Result of the proof.
        policy: A function that makes the policy for the rates of an envelope; see `policies.policy`.

    Attributes:
        sizes: The buffer sizes to simulate, in C·R_m. None stands for an infinite buffer.
        windows: The number of windows so far, by the state in which the windows begin.
        broken: The number of windows that broke a lemma, by the name of the lemma. All numbers should be 0.
        closest: For each objective: the best value of its constant that all windows so far satisfy, as an index in the
            constant's grid.
    """

    def __init__(self, result, policy=policy):
        self.result, self.policy = result, policy
        self.prover = Prover(result.proof, result.controller, result.horizon)
        self.proof = replace(self.prover.proof, states=tuple(map(self._with_cache, self.prover.proof.states)))
        self.lemmas = [lemma for lemma in self.proof.all_lemmas(self.prover.query.model) if not lemma.paper]
        self.sizes = _sizes(self.prover.query.buffer)
        self.windows, self.broken, self.closest = Counter(), Counter(), {}
        self._objectives = list(self._single_constants())
        self._query = cache(self._query_of)

    def _with_cache(self, state):
        """Return the state with a cached condition, so that all lemmas share one evaluation per step."""
        holds = lru_cache(2)(lambda x, t: state.holds(x, t, self.result.values))
        return replace(state, holds=lambda x, t, c: holds(x, t))

    def run(self, seed, jitter=None, hiding=None, changes=None):
        """Simulate a run of STEPS steps, check its windows, and return the run.

        Args:
            seed: The seed of all random choices: the link, the changes of its rate, its jitter, and the policy of an
                envelope.
            jitter: The pattern of jitter, as in Simulation. None stands for a random choice from JITTER.
            hiding: The pattern of hidden tokens, as in Simulation. None stands for a random choice from HIDING.
            changes: A dict of rate changes. The dict maps a step to the rate that applies from the end of this step on,
                as a share of the initial rate. None stands for two random changes.
        """
        rng, model = Random(seed), self.prover.query.model
        bdp = rng.choice((24, 60, 120))
        size = rng.choice(self.sizes)
        path = Path(model, rate=bdp, jitter=self.prover.query.jitter, buffer=None if size is None else int(bdp * size))
        rates = dict(zip(CHANGES, rng.sample([bdp // 2, bdp * 3 // 2, bdp * 2, bdp // 3], 2), strict=True))
        if changes is not None:
            rates = {step: int(bdp * share) for step, share in changes.items()}
        first = {bound.name: _first(bound, bdp, rng) for bound in model.bounds()}
        queue, held, hidden = bdp * rng.choice((0, 1, 4)), rng.choice(sorted(JITTER)), rng.choice(sorted(HIDING))
        simulation = Simulation(
            path,
            seed,
            initial_queue=queue,
            jitter=jitter or held,
            hiding=hiding or hidden,
            rates=set(rates.values()),
        )
        choose = self.policy(self.result, rng, simulation) if self.result.controller.is_envelope else None
        sender = DeployedController(model, self.result.controller, path, self.result.horizon - 1, first, choose=choose)
        for step in range(1, STEPS + 1):
            simulation.step(sender(simulation.observation))
            if step in rates:
                simulation.change_rate(rates[step])
        run = simulation.run()
        for trace in self._traces(run, sender):
            self._look(trace)
        return run

    def _traces(self, run, sender):
        """Yield the windows during which the link rate does not change."""
        for window in sender.windows:
            with suppress(InputError):
                yield window.trace(run, self.prover.query.units())

    def _look(self, trace):
        """Record a window that breaks a lemma, or that comes nearer to a violation than all earlier windows.

        Such a window counts only if it satisfies all laws of the model. Windows soon after a rate change may not.
        """
        c, query = self.result.values, self._query(str(trace.constants.get("beta", "infinite")))
        x = query.observed(trace, query.units())
        broken = [lemma.name for lemma in self.lemmas if lemma.given(x, c) and not lemma.then(x, c)]
        nearer = dict(self._nearer(x))
        if (broken or nearer) and check(query, trace.measuring(query.model.measures)).faults:
            return
        self.windows.update(state.name for state in self.proof.states if state.holds(x, 0, c))
        self.broken.update(broken)
        self.closest.update(nearer)

    def _nearer(self, x):
        """Yield each objective whose constant this window approaches more closely than all earlier windows.

        The index of a constant's value is as in `closest`.
        """
        c = self.result.values
        for lemma, constant, grid in self._objectives:
            if lemma.given(x, c):

                def breaks(index):
                    return not lemma.then(x, {**c, constant.name: grid[index]})  # noqa: B023

                nearest = self.closest.get(lemma.name)
                if nearest is None or breaks(nearest):
                    yield lemma.name, bisect(range(len(grid)), False, key=breaks) - 1

    def closest_values(self):
        """Yield the nearest approach of the windows to each objective, if any.

        A nearest approach is a tuple (lemma, constant, proved value, best value that all windows satisfy).
        """
        for lemma, constant, grid in self._objectives:
            if self.closest.get(lemma.name, -1) >= 0:
                yield lemma.name, constant.name, self.result.values[constant.name], grid[self.closest[lemma.name]]

    def _single_constants(self):
        """Yield each objective that reads exactly one constant, together with this constant and the constant's grid."""
        constants = {constant.name: constant for constant in self.proof.constants}
        objectives = {f"{state.name}: {objective.name}" for state in self.proof.states for objective in state.ensures}
        for lemma in self.lemmas:
            names = self.prover.constants_of(replace(lemma, given=lambda x, c: True))
            if lemma.name in objectives and len(names) == 1:
                [constant] = map(constants.get, names)
                yield lemma, constant, constant.grid()

    def _query_of(self, buffer):
        proof = replace(self.proof, buffer=buffer)
        return windows_of(self.result.proof, proof, self.result.horizon, self.lemmas[0].name)


def _sizes(buffer):
    if buffer.size is None:
        return (Fraction(1, 4), 1, 3) if buffer.finite else (None,)
    return (buffer.size,) if buffer.kind == "exactly" else [buffer.size * factor for factor in (1, Fraction(3, 2), 2)]


def _first(bound, bdp, rng):
    """Return a random initial value for a belief that is a bound. The bound is true of the link.

    The link serves `bdp` bytes per step.
    """
    return max(1, int(bdp**bound.unit.bytes_power * rng.choice(bound.SHARES)))
