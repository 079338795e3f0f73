"""A simulated execution, packet by packet, and what of it is counted at the ends of steps."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ccmatic.base import InputError
from ccmatic.simulation.packets import NEVER
from ccmatic.simulation.paths import Path
from ccmatic.traces import Trace


@dataclass(frozen=True, eq=False)
class Run:
    """An execution: what happened to each packet, in the order sent; instants are in ticks.

    sent:     when it was sent.
    dropped:  when the bottleneck dropped it; NEVER if it did not.
    started:  when the bottleneck admitted it.
    token:    when the token that it used was generated: `started`, unless a bucket hid the token.
    released: when it was delivered.

    What lies after the end of the run is as planned, NEVER if lost or not yet decided.

    changes:  of the link's rate: (step at whose end it changed, path from then on); `path` is the first.
    """

    path: Path
    steps: int
    seed: object
    sent: np.ndarray
    dropped: np.ndarray
    started: np.ndarray
    token: np.ndarray
    released: np.ndarray
    changes: tuple = ()

    @cached_property
    def lost(self):
        """Whether the bottleneck dropped each packet."""
        return self.dropped < NEVER

    def path_within(self, start, end):
        """The path between the ends of two steps. Raises InputError if the link's rate changes in between."""
        for step, _ in self.changes:
            if start < step < end:
                raise InputError(f"the rate changes at the end of step {step}, expected none within {start} … {end}")
        return next((path for step, path in reversed(self.changes) if step <= start), self.path)

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
        A, L = count(self.sent), count(np.sort(self.dropped[self.lost]))
        K, S = count(self.token[kept]), count(self.released[kept])
        return {"A": A, "L": L, "K": K, "S": S, **delays(count(self.sent[kept]), S)}

    def trace(self, start=1, horizon=None, alpha=None):
        """The Trace of steps start … start+horizon-1, to the end of the run by default.

        alpha: MSS / (C·R_m), a packet by default; below 1/5 and β, at most the least rate in the trace.
        Raises InputError where there are no such steps or no such alpha, or the rate changes within them.
        """
        horizon = self.steps + 1 - start if horizon is None else horizon
        if start < 1 or horizon < 1 or start + horizon - 1 > self.steps:
            raise InputError(f"{horizon} steps from {start} on, expected to be within 1 … {self.steps}")
        path = self.path_within(start, start + horizon - 1)
        return sampled(self.samples, path.model, path.jitter, path.bdp, path.room, start, horizon, alpha, self.seed)

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


def delays(arrived, S):
    """What was measured at the ends of steps, of what had come and was not lost, and what was served, both counted by
    then: `Q` and `F`, whole steps each. A delay is that of the last step in which anything was served."""
    before, t = np.concatenate(([0], S[:-1])), np.arange(len(S))
    latest = np.maximum.accumulate(np.where(S > before, t, 0))
    last = t - np.searchsorted(arrived, S, side="left")
    first = t - np.searchsorted(arrived, before, side="right")
    return {name: np.where(S > 0, delay[latest], 0) for name, delay in (("Q", last), ("F", first))}


def sampled(samples, model, jitter, bdp, room, start, horizon, alpha=None, seed=0):
    """The Trace of `horizon` steps from `start` on of an execution of a model, with a jitter in steps.

    samples: as of a Run, counted in packets or in bytes, as are bdp, C·R_m, and room, β, None if it is infinite.
    alpha: MSS in C·R_m; 1/bdp by default. Raises InputError for an alpha that is none.
    """
    columns = _columns(samples, start, horizon, bdp)
    beta = None if room is None else Fraction(room) / bdp
    return Trace(
        horizon=horizon,
        constants=_constants(bdp, jitter, beta, alpha, min(columns["r"])),
        columns=columns,
        query={
            "model": model.name,
            "horizon": horizon,
            "buffer": "infinite" if beta is None else str(beta),
            "jitter": jitter,
            "delay": "executions",
            "property": {},
            "simulation": {"seed": seed, "start": start},
        },
    )


def _columns(samples, start, horizon, bdp):
    """The columns of such a trace, by name: in units of bdp, counted from where S and the losses known then are 0;
    whole steps, at most `horizon`."""

    def column(counts, origin=0):
        return tuple(Fraction(int(count) - int(origin)) / bdp for count in counts)

    def whole(values):
        return tuple(Fraction(min(int(value), horizon)) for value in values)

    A, L, K, S = (samples[name] for name in "ALKS")
    window, Ld = slice(start, start + horizon), np.concatenate(([0], L[:-1]))
    served, gone = S[start], Ld[start]
    return {
        "A": column(A[window], served + gone),
        "S": column(S[window], served),
        "L": column(L[window], gone),
        "Ld": column(Ld[window], gone),
        "K": column(K[window], served),
        "r": column(np.diff(A)[start - 1 : start + horizon - 1]),
        "Q": whole(samples["Q"][window]),
        "F": whole(samples["F"][window]),
    }


def _constants(bdp, jitter, beta, alpha, least):
    """The trace's constants, in C·R_m and R_m."""
    alpha = Fraction(1, bdp) if alpha is None else Fraction(alpha)
    if not (0 < alpha < Fraction(1, 5) and alpha <= least and (beta is None or alpha < beta)):
        raise InputError(
            f"alpha is {alpha}, expected above 0, below 1/5 and below the buffer ({beta}), "
            f"at most the least rate ({least})"
        )
    constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(jitter), "MSS": alpha}
    return constants if beta is None else {**constants, "beta": beta}
