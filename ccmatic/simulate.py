"""Event simulation of one flow over a path, packet by packet, in integers.

A step is R_m. The sender is asked once a step for the rate of the coming step and spaces its packets evenly
over it, the last at the step's end. Sampled at the ends of steps, every execution obeys the laws of the
model that its kind of path is named after.
"""

from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random

import numpy as np

from ccmatic.errors import InputError
from ccmatic.paths import NEVER, Path
from ccmatic.trace import Trace


@dataclass(frozen=True)
class Observation:
    """What a sender has seen by the end of a step. Bytes are cumulative.

    step:      how many steps are over.
    sent, delivered: A and S, bytes.
    lost:      Ld, the bytes lost that it has detected: those lost by the end of the step before.
    delay:     from the sending of the packet last delivered to its delivery, in steps; None before one is.
    rate:      at which it sent in the last step, bytes per unit of time; 0 before the first.
    """

    step: int
    sent: int
    delivered: int
    lost: int
    delay: Fraction | None
    rate: Fraction


class Simulation:
    """One execution, advanced a step at a time.

    path:    a Path.
    seed:    of the random choices that the path makes.
    initial_queue: bytes sent in one burst at time 0, in whole packets.
    jitter:  a key of paths.JITTER: how packets are delayed after the bottleneck.
    hiding:  a key of paths.HIDING: when a `ccac` path keeps unused tokens.
    """

    def __init__(self, path, seed=0, initial_queue=0, jitter="mixed", hiding="mixed"):
        rng = Random(seed)
        self.path, self.seed = path, seed
        self._bottleneck = path.bottleneck(rng, hiding)
        self._release = path.delays(rng, jitter)
        self._carry = Fraction(0)
        self._steps = 0
        self._sent, self._lost, self._detected = [], [], 0
        self._accepted, self._admitted, self._tokens, self._released = [], [], [], []
        self._losses = 0
        self._send([0] * int(initial_queue // path.packet))
        self.observation = self._observe(Fraction(0))

    def step(self, rate):
        """Send at `rate`, bytes per unit of time, for a step; what the sender has seen by its end.

        Whole packets are sent, at least one; what is left of the rate is carried over. Raises InputError
        if the rate is not a finite number.
        """
        count = self._packets(rate)
        length = self.path.step
        begin = self._steps * length
        self._steps += 1
        self._detected = self._losses
        self._send([begin + i * length // count for i in range(1, count + 1)])
        self.observation = self._observe(count * self.path.packet / self.path.propagation)
        return self.observation

    def run(self):
        """The execution so far, as a Run."""
        lost = np.array(self._lost, bool)
        decided = np.flatnonzero(~lost)[: len(self._admitted)]

        def each(instants):
            column = np.full(len(lost), NEVER, np.int64)
            column[decided] = instants
            return column

        return Run(
            path=self.path,
            steps=self._steps,
            seed=self.seed,
            sent=np.array(self._sent, np.int64),
            lost=lost,
            started=each(self._admitted),
            token=each(self._tokens),
            released=each(self._released),
        )

    def _packets(self, rate):
        try:
            exact = Fraction(rate)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"the sender's rate is {rate!r}, expected a finite number") from None
        budget = self._carry + exact * self.path.propagation / self.path.packet
        count = max(1, int(budget // 1))
        self._carry = max(Fraction(0), budget - count)
        return count

    def _send(self, arrivals):
        lost, admitted, tokens = self._bottleneck.offer(arrivals) if arrivals else ([], [], [])
        self._sent += arrivals
        self._lost += lost
        self._losses += sum(lost)
        self._accepted += [sent for sent, gone in zip(arrivals, lost) if not gone]
        self._admitted += admitted
        self._tokens += tokens
        self._deliver(admitted, tokens)

    def _deliver(self, admitted, tokens):
        """Plan when packets are released: in order, and at most D after their tokens were generated."""
        wish, bound, released = self._release, self.path.bound, self._released
        last = released[-1] if released else 0
        for now, token in zip(admitted, tokens):
            at, limit = wish(now), token + bound
            if at > limit:
                at = limit
            if at > last:
                last = at
            released.append(last)

    def _observe(self, rate):
        packet, step = self.path.packet, self.path.step
        delivered = bisect_right(self._released, self._steps * step)
        delay = None
        if delivered:
            delay = Fraction(self._released[delivered - 1] - self._accepted[delivered - 1], step)
        return Observation(
            step=self._steps,
            sent=len(self._sent) * packet,
            delivered=delivered * packet,
            lost=self._detected * packet,
            delay=delay,
            rate=rate,
        )


def simulate(path, sender, steps, seed=0, initial_queue=0, jitter="mixed", hiding="mixed"):
    """Run `sender`, a function from an Observation to the rate of the coming step; returns a Run."""
    simulation = Simulation(path, seed, initial_queue, jitter, hiding)
    for _ in range(steps):
        simulation.step(sender(simulation.observation))
    return simulation.run()


@dataclass(frozen=True, eq=False)
class Run:
    """An execution: what happened to each packet, in the order sent; instants are in ticks.

    sent:     when it was sent.
    lost:     whether it was dropped on arrival.
    started:  when the bottleneck admitted it.
    token:    when the token that it used was generated: `started`, unless a bucket hid the token.
    released: when it was delivered.

    What lies after the end of the run is as planned, NEVER if lost or not yet decided.
    """

    path: Path
    steps: int
    seed: object
    sent: np.ndarray
    lost: np.ndarray
    started: np.ndarray
    token: np.ndarray
    released: np.ndarray

    @cached_property
    def samples(self):
        """Packets counted by the end of each step 0 … steps: `A`, `L`, `K`, `S`; whole steps: `Q`, `F`.

        K counts the tokens generated so far that were used before the run ended: one kept for nobody was,
        in hindsight, wasted when it was generated.
        """
        ends = np.arange(self.steps + 1) * self.path.step

        def count(instants):
            return np.searchsorted(instants, ends, side="right")

        kept = ~self.lost
        A, L = count(self.sent), count(self.sent[self.lost])
        K, S = count(self.token[kept]), count(self.released[kept])
        before = np.concatenate(([0], S[:-1]))
        arrived, t = A - L, np.arange(self.steps + 1)
        # A delay is that of the last step in which anything was served.
        latest = np.maximum.accumulate(np.where(S > before, t, 0))
        last = t - np.searchsorted(arrived, S, side="left")
        first = t - np.searchsorted(arrived, before, side="right")
        Q, F = (np.where(S > 0, delay[latest], 0) for delay in (last, first))
        return {"A": A, "L": L, "K": K, "S": S, "Q": Q, "F": F}

    def trace(self, start=1, horizon=None, alpha=None):
        """The Trace of steps start … start+horizon-1, to the end of the run by default.

        alpha: MSS / (C·R_m), a packet by default; below 1/5 and β, at most the least rate in the trace.
        Raises InputError where there are no such steps or no such alpha.
        """
        path, samples = self.path, self.samples
        horizon = self.steps + 1 - start if horizon is None else horizon
        if start < 1 or horizon < 1 or start + horizon - 1 > self.steps:
            raise InputError(f"{horizon} steps from {start} on, expected to be within 1 … {self.steps}")
        window = slice(start, start + horizon)
        scale = path.propagation * path.rate / path.packet

        def column(counts, origin=0):
            return tuple(Fraction(int(count) - int(origin)) / scale for count in counts)

        def whole(values):
            return tuple(Fraction(min(int(value), horizon)) for value in values)

        A, L, K, S = (samples[name] for name in "ALKS")
        known = np.concatenate(([0], L[:-1]))
        served, gone = S[start], known[start]
        columns = {
            "A": column(A[window], served + gone),
            "S": column(S[window], served),
            "L": column(L[window], gone),
            "Ld": column(known[window], gone),
            "K": column(K[window], served),
            "r": column(np.diff(A)[start - 1 : start + horizon - 1]),
            "Q": whole(samples["Q"][window]),
            "F": whole(samples["F"][window]),
        }
        beta = None if path.room is None else Fraction(path.room) / scale
        return Trace(
            horizon=horizon,
            constants=_constants(path, beta, alpha, min(columns["r"])),
            columns=columns,
            query={
                "model": path.kind,
                "horizon": horizon,
                "buffer": "infinite" if beta is None else str(beta),
                "jitter": path.jitter,
                "delay": "executions",
                "property": {},
                "simulation": {"seed": self.seed, "start": start},
            },
        )

    def queueing_delay(self, t):
        """How long the packet last delivered by the end of step t waited at the bottleneck, in steps.

        Two Fractions: until its first byte left the queue, and until its last did. 0 before any delivery.
        """
        served = int(self.samples["S"][t])
        if not served:
            return Fraction(0), Fraction(0)
        packet = np.flatnonzero(~self.lost)[served - 1]
        wait = Fraction(int(self.started[packet] - self.sent[packet]), self.path.step)
        return wait, wait + Fraction(1, self.path.bdp)

    def utilisation(self, start=0):
        """The share of the link's capacity that was delivered from the end of step `start` on."""
        S = self.samples["S"]
        return float(S[-1] - S[start]) / (self.path.bdp * (self.steps - start))

    def loss(self, start=0):
        """The share lost of the packets sent after step `start`."""
        return float(np.mean(self.lost[self.sent > start * self.path.step]))

    def delays(self, start=0):
        """How long each packet that was sent after step `start` and got through waited at the bottleneck,
        in the path's unit of time; for np.mean and np.percentile."""
        end = self.steps * self.path.step
        through = (self.sent > start * self.path.step) & (self.started <= end)
        waits = (self.started - self.sent)[through]
        return waits * (float(self.path.propagation) / self.path.step)


def _constants(path, beta, alpha, least):
    """The trace's constants, in C·R_m and R_m."""
    alpha = Fraction(1, path.bdp) if alpha is None else Fraction(alpha)
    if not (0 < alpha < Fraction(1, 5) and alpha <= least and (beta is None or alpha < beta)):
        raise InputError(
            f"alpha is {alpha}, expected above 0, below 1/5 and below the buffer ({beta}), "
            f"at most the least rate ({least})"
        )
    constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(path.jitter), "MSS": alpha}
    return constants if beta is None else {**constants, "beta": beta}
