"""A proof put to the test: the deployed controller is simulated on links whose rate changes; no window of such a run
may break a lemma, and how near windows come to breaking one is told. In an envelope policies choose the rates."""

from bisect import bisect
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from random import Random

from ccmatic.base import InputError
from ccmatic.proving.policies import policy
from ccmatic.proving.prover import Prover, windows_of
from ccmatic.simulation import HIDING, JITTER, Deployed, Path, Simulation
from ccmatic.verification import check_trace as check

#: Steps of a run, and after which of them the link rate changes.
STEPS, CHANGES = 130, (40, 85)


class Trial:
    """The test of one proof, a Result, run by run. policy: makes what chooses the rates of an envelope, as
    policies.policy.

    sizes: of buffers that are tried, in C·R_m; None: infinite.
    windows: how many were looked at, by the state in which they begin. broken: how many of them broke a lemma, by its
    name; none should. closest: by objective, the index in its constant's grid of the best value that every window so
    far would allow.
    """

    def __init__(self, result, policy=policy):
        self.result, self.policy = result, policy
        self.prover = Prover(result.proof, result.controller, result.horizon)
        self.proof = replace(self.prover.proof, states=tuple(map(self._asked_once, self.prover.proof.states)))
        self.lemmas = [lemma for lemma in self.proof.all_lemmas(self.prover.query.model) if not lemma.paper]
        self.sizes = _sizes(self.prover.query.buffer)
        self.windows, self.broken, self.closest = Counter(), Counter(), {}
        self._objectives = list(self._single_constants())
        self._query = cache(self._query_of)

    def _asked_once(self, state):
        """A state of which it is asked once for all lemmas whether a window is in it at a step."""
        holds = lru_cache(2)(lambda x, t: state.holds(x, t, self.result.values))
        return replace(state, holds=lambda x, t, c: holds(x, t))

    def run(self, seed, jitter=None, hiding=None, changes=None):
        """Simulate one run of STEPS steps, look at its windows, and return it. seed: of the link, its changes and its
        jitter, and of who chooses the rates of an envelope. jitter, hiding: as of a Simulation; None: one of JITTER and
        HIDING. changes: of the link's rate, to which share of the first at the end of which step; None: two of them."""
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
        sender = Deployed(model, self.result.controller, path, self.result.horizon - 1, first, choose=choose)
        for step in range(1, STEPS + 1):
            simulation.step(sender(simulation.observation))
            if step in rates:
                simulation.change_rate(rates[step])
        run = simulation.run()
        for trace in self._traces(run, sender):
            self._look(trace)
        return run

    def _traces(self, run, sender):
        """The windows in which the link's rate does not change."""
        for window in sender.windows:
            with suppress(InputError):
                yield window.trace(run, self.prover.query.units())

    def _look(self, trace):
        """Count a window. One that breaks a lemma, or comes nearer to that than any before, counts if it is a trace of
        the model, by all laws: not too short a while after the rate has changed."""
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
        """The objectives to whose constants a window comes nearer than all before, as in `closest`."""
        c = self.result.values
        for lemma, constant, grid in self._objectives:
            if lemma.given(x, c):

                def breaks(index):
                    return not lemma.then(x, {**c, constant.name: grid[index]})  # noqa: B023

                nearest = self.closest.get(lemma.name)
                if nearest is None or breaks(nearest):
                    yield lemma.name, bisect(range(len(grid)), False, key=breaks) - 1

    def closest_values(self):
        """(lemma, constant, proved value, value that every window would allow) for each objective seen of which there
        is such a value."""
        for lemma, constant, grid in self._objectives:
            if self.closest.get(lemma.name, -1) >= 0:
                yield lemma.name, constant.name, self.result.values[constant.name], grid[self.closest[lemma.name]]

    def _single_constants(self):
        """Each objective that reads one constant, with it and its grid."""
        constants = {constant.name: constant for constant in self.proof.constants}
        objectives = {f"{state.name}: {objective.name}" for state in self.proof.states for objective in state.ensures}
        for lemma in self.lemmas:
            names = self.prover.constants_of(replace(lemma, given=lambda x, c: True))
            if lemma.name in objectives and len(names) == 1:
                [constant] = map(constants.get, names)
                yield lemma, constant, constant.grid()

    def _query_of(self, buffer):
        """The network of a window that had this buffer."""
        proof = replace(self.proof, buffer=buffer)
        return windows_of(self.result.proof, proof, self.result.horizon, self.lemmas[0].name)


def _sizes(buffer):
    """Those of a Trial."""
    if buffer.size is None:
        return (Fraction(1, 4), 1, 3) if buffer.finite else (None,)
    return (buffer.size,) if buffer.kind == "exactly" else [buffer.size * factor for factor in (1, Fraction(3, 2), 2)]


def _first(bound, bdp, rng):
    """A first value of a bound: of what makes it true of the link, which serves bdp a step, a share."""
    return max(1, int(bdp**bound.unit.bytes_power * rng.choice(bound.SHARES)))
