"""A simulated execution, packet by packet, and its packet counts at the ends of steps."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from ccmatic.base import InputError
from ccmatic.networks.simulation.packets import NEVER
from ccmatic.networks.simulation.paths import Path
from ccmatic.networks.traces import Trace


@dataclass(frozen=True, eq=False)
class Run:
    """A simulated execution: the outcome of each packet, in the order of sending. All instants are in ticks.

    Instants after the end of the run are planned. The instant of an event is NEVER if the packet is lost before the
    event, or if its outcome is still unknown.

    Attributes:
        path: The path at the beginning of the run.
        steps: The number of steps in the run.
        seed: The seed of the path's random choices.
        sent: The instant at which each packet was sent.
        dropped: The instant at which the bottleneck dropped each packet, or NEVER if the bottleneck did not drop the
            packet.
        started: The instant at which the bottleneck admitted each packet.
        token: The instant at which each packet's token was generated. This instant equals `started`, unless a bucket
            hid the token.
        released: The instant at which each packet was delivered.
        marked: Whether the bottleneck marked each packet.
        changes: The changes of the link's rate, each as a pair: the step at whose end the rate changed, and the path
            from then on.
        columns: The model's own columns at the ends of the steps 0 … `steps`, in packets.
        allowed: The number of packets that the rate of each step allows; 0 for step 0. An application that pauses
            offers fewer packets.
    """

    path: Path
    steps: int
    seed: object
    sent: np.ndarray
    dropped: np.ndarray
    started: np.ndarray
    token: np.ndarray
    released: np.ndarray
    marked: np.ndarray
    changes: tuple = ()
    columns: dict = field(default_factory=dict)
    allowed: tuple = ()

    @cached_property
    def lost(self):
        return self.dropped < NEVER

    def path_within(self, start, end):
        """Return the path that applies between the ends of two steps; InputError if the rate changes in between."""
        for step, _ in self.changes:
            if start < step < end:
                raise InputError(f"the rate changes at the end of step {step}, expected none within {start} … {end}")
        return next((path for step, path in reversed(self.changes) if step <= start), self.path)

    @cached_property
    def samples(self):
        """The counts at the ends of steps 0 … `steps`: `A`, `L`, `K` and `S` in packets, `Q` and `F` in whole steps.

        The model's own columns are in packets.
        For each step, the column `r` has the number of packets that the step's rate allows.

        K counts the tokens generated so far that some packet uses before the end of the run. If the link keeps a token
        that no packet ever uses, this token counts as wasted from its generation on.
        """
        ends = np.arange(self.steps + 1) * self.path.step

        def count(instants):
            return np.searchsorted(instants, ends, side="right")

        kept = ~self.lost
        A, L = count(self.sent), count(np.sort(self.dropped[self.lost]))
        K, S = count(self.token[kept]), count(self.released[kept])
        measured = delays(count(self.sent[kept]), S)
        marks = self._marks(kept, count(self.sent[kept]), S) if self.path.model.threshold is not None else {}
        return {
            "A": A,
            "L": L,
            "K": K,
            "S": S,
            "r": np.array(self.allowed, np.int64),
            **measured,
            **marks,
            **self.columns,
        }

    def _marks(self, kept, arrived, S):
        marked = np.concatenate(([0], np.cumsum(self.marked[kept])))
        return {"echoed": marked[S], "carried": marked[arrived] - marked[S]}

    def trace(self, start=1, horizon=None, alpha=None):
        """Return the Trace of the steps start … start+horizon-1, by default to the end of the run.

        `alpha` is MSS / (C·R_m), below 1/5, below β, and at most the lowest rate in the trace; by default one packet.
        """
        horizon = self.steps + 1 - start if horizon is None else horizon
        if start < 1 or horizon < 1 or start + horizon - 1 > self.steps:
            raise InputError(f"{horizon} steps from {start} on, expected to be within 1 … {self.steps}")
        path = self.path_within(start, start + horizon - 1)
        return sampled(self.samples, path.model, path.jitter, path.bdp, path.room, start, horizon, alpha, self.seed)

    def queueing_delay(self, t):
        """Return the wait at the bottleneck, in steps, of the last packet that the link delivered by the end of step t.

        The two waits are until the packet's first and last byte left the queue; both are 0 before any delivery.
        """
        served = int(self.samples["S"][t])
        if not served:
            return Fraction(0), Fraction(0)
        packet = np.flatnonzero(~self.lost)[served - 1]
        wait = Fraction(int(self.started[packet] - self.sent[packet]), self.path.step)
        return wait, wait + Fraction(1, self.path.bdp)

    def utilisation(self, start=0):
        """Return the share of the link's capacity that the run used, counted from the end of step `start`."""
        S = self.samples["S"]
        return float(S[-1] - S[start]) / (self.path.bdp * (self.steps - start))

    def loss(self, start=0):
        """Return the share of lost packets among the packets that were sent after step `start`."""
        return float(np.mean(self.lost[self.sent > start * self.path.step]))

    def delays(self, start=0):
        """Return the waiting time of each packet at the bottleneck, in the path's unit of time.

        The array covers the packets that were sent after step `start` and that the bottleneck admitted before the end
        of the run.
        """
        end = self.steps * self.path.step
        through = (self.sent > start * self.path.step) & (self.started <= end)
        waits = (self.started - self.sent)[through]
        return waits * (float(self.path.propagation) / self.path.step)


def delays(arrived, S):
    """Return the delays `Q` and `F`, in whole steps, at the end of each step.

    If no packet is delivered in a step, the delay of the previous step remains. The delay is 0 before any delivery.
    `arrived` counts the packets sent and not lost, `S` those delivered.
    """
    before, t = np.concatenate(([0], S[:-1])), np.arange(len(S))
    latest = np.maximum.accumulate(np.where(S > before, t, 0))
    last = t - np.searchsorted(arrived, S, side="left")
    first = t - np.searchsorted(arrived, before, side="right")
    return {name: np.where(S > 0, delay[latest], 0) for name, delay in (("Q", last), ("F", first))}


def sampled(samples, model, jitter, bdp, room, start, horizon, alpha=None, seed=0):
    """Return the Trace of `horizon` steps, from step `start` on, of an execution of a model.

    `samples` are as in `Run.samples`, in packets or in bytes; without `r`, the sender sent all the bytes that its rate
    allowed. `bdp` is C·R_m and `room` the buffer β in the same unit. `alpha` is MSS / (C·R_m), by default 1/bdp.
    """
    columns = _columns(samples, start, horizon, bdp)
    own = [column.name for column in model.own_columns if column.name in samples]
    columns |= {
        name: tuple(Fraction(int(each)) / bdp for each in samples[name][start : start + horizon]) for name in own
    }
    beta = None if room is None else Fraction(room) / bdp
    return Trace(
        horizon=horizon,
        constants=_constants(bdp, jitter, beta, alpha, min(columns["r"])),
        columns=columns,
        query={
            "model": model.full_name,
            "horizon": horizon,
            "buffer": "infinite" if beta is None else str(beta),
            "jitter": jitter,
            "delay": "executions",
            "property": {},
            "simulation": {"seed": seed, "start": start},
        },
    )


def _columns(samples, start, horizon, bdp):
    """Return the columns of a trace made of samples, by name, with bytes in units of `bdp`.

    The counts are shifted so that the bytes served S and the known losses are 0 in the first step. Delays are whole
    steps, at most `horizon`.
    """

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
        "r": column(samples["r"][window] if "r" in samples else np.diff(A)[start - 1 : start + horizon - 1]),
        "Q": whole(samples["Q"][window]),
        "F": whole(samples["F"][window]),
    }


def _constants(bdp, jitter, beta, alpha, least):
    alpha = Fraction(1, bdp) if alpha is None else Fraction(alpha)
    if not (0 < alpha < Fraction(1, 5) and alpha <= least and (beta is None or alpha < beta)):
        raise InputError(
            f"alpha is {alpha}, expected above 0, below 1/5 and below the buffer ({beta}), "
            f"at most the least rate ({least})"
        )
    constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(jitter), "MSS": alpha}
    return constants if beta is None else {**constants, "beta": beta}
