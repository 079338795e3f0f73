"""Event simulation of one flow over a path, packet by packet, in integers.

A step is R_m. The sender is asked once a step for the rate of the coming step and spaces its packets evenly
over it, the last at the step's end. Sampled at the ends of steps, every execution obeys the laws of the
path's model.
"""

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np

from ccmatic.base import InputError
from ccmatic.simulation.packets import NEVER
from ccmatic.simulation.run import Run


@dataclass(frozen=True)
class Observation:
    """What a sender has seen by the end of a step. Bytes are cumulative.

    step:      how many steps are over.
    sent, delivered: A and S, bytes.
    lost:      Ld, the bytes lost that it has detected: those lost by the end of the step before.
    dropped:   L, the bytes lost by now, which a sender may see at once on an ideal path only.
    delay:     from the sending of the packet last delivered to its delivery, in steps; None before one is.
    last, first: Q and F, the whole steps of delay of the last (first) packet delivered in the last step in which any
               was; 0 before one is.
    rate:      at which it sent in the last step, bytes per unit of time; 0 before the first.
    timely:    of those lost, the bytes that tell of a buffer that was full throughout a step: all, where each step is
               sent at one rate and losses are found within the next.
    excess:    of those lost, the bytes that tell by how much more came in a step than fits: all, where bytes are lost
               one by one and losses are found within the next.
    limited:   whether it sent less than its rate in the last step, as its application had nothing to send.
    """

    step: int
    sent: int
    delivered: int
    lost: int
    dropped: int
    delay: Fraction | None
    last: int
    first: int
    rate: Fraction
    timely: int
    excess: int
    limited: bool = False


class Simulation:
    """One execution, advanced a step at a time.

    path:    a Path.
    seed:    of the random choices that the path makes.
    initial_queue: bytes sent in one burst at time 0, in whole packets.
    jitter:  a key of paths.JITTER: how packets are delayed after the bottleneck.
    hiding:  a key of paths.HIDING: when a token bucket keeps unused tokens.
    rates:   to which `change_rate` may change the link's, each a whole number of packets a step.
    """

    def __init__(self, path, seed=0, initial_queue=0, jitter="mixed", hiding="mixed", rates=()):
        rng = Random(seed)
        path = path.finer(rates)
        self.path, self.seed = path, seed
        self._bottleneck = path.bottleneck(rng, hiding)
        self._release = path.delays(rng, jitter)
        self._carry = Fraction(0)
        self._steps = 0
        self._sent, self._dropped, self._undecided = [], [], deque()
        self._through, self._admitted, self._tokens, self._released = [], [], [], []
        self._losses = self._detected = 0
        self._changes = [(0, path)]
        self._last = self._first = self._delivered = 0
        self._send([0] * int(initial_queue // path.packet), 0)
        self.observation = self._observe(Fraction(0))

    def step(self, rate):
        """Send at `rate`, bytes per unit of time, for a step; what the sender has seen by its end.

        Whole packets are sent, at least one; what is left of the rate is carried over. Raises InputError
        if the rate is not a finite number.
        """
        self.send(self._packets(rate))
        return self.observation

    def send(self, count):
        """Send so many packets in a step, none perhaps, evenly, the last at its end; whether the link accepts each."""
        length = self.path.step
        begin = self._steps * length
        self._steps += 1
        self._detected = self._losses
        accepted = self._send([begin + i * length // count for i in range(1, count + 1)], begin + length)
        self.observation = self._observe(count * self.path.packet / self.path.propagation)
        return accepted

    @property
    def delivered(self):
        """The numbers of the packets delivered so far, in order, of all that were sent."""
        return self._through[: self._delivered]

    def delay_of(self, packet):
        """From the sending of a delivered packet, by its number, to its delivery, in steps."""
        number = bisect_right(self._through, packet) - 1
        return Fraction(self._released[number] - self._sent[packet], self.path.step)

    def steps_since_sent(self, packet):
        """From the end of the step in which a packet was sent, by its number, to now."""
        return self._steps + -self._sent[packet] // self.path.step

    def change_rate(self, rate):
        """From now on, the end of a step, the link has another rate, in bytes per unit of time. What waits or is in
        flight stays. Laws that look back beyond a trace (service within jitter, delays that fit the buffer) hold
        once what was under way now is delivered. Raises InputError if the rate is not among those announced."""
        self.path = self.path.at_rate(rate)
        self._changes.append((self._steps, self.path))
        now = self._steps * self.path.step
        kept = bisect_right(self._admitted, now)
        last = self._admitted[kept - 1] if kept else -self.path.ticks
        self._undecided.extendleft(reversed(self._through[kept:]))
        for planned in (self._through, self._admitted, self._tokens, self._released):
            del planned[kept:]
        self._decide(self._bottleneck.change(self.path, now, len(self._undecided), last))

    def run(self):
        """The Run so far, in which nothing that happens later changes."""

        def each(instants):
            column = np.full(len(self._sent), NEVER, np.int64)
            column[self._through] = instants
            return column

        return Run(
            path=self._changes[0][1],
            steps=self._steps,
            seed=self.seed,
            sent=np.array(self._sent, np.int64),
            dropped=np.array(self._dropped, np.int64),
            started=each(self._admitted),
            token=each(self._tokens),
            released=each(self._released),
            changes=tuple(self._changes[1:]),
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

    def _send(self, arrivals, end):
        """Send packets at these instants of a step, which is over at `end`; whether the link accepts each."""
        accepted, outcomes = self._bottleneck.offer(arrivals, end)
        first = len(self._sent)
        self._sent += arrivals
        self._dropped += [NEVER if taken else now for now, taken in zip(arrivals, accepted, strict=True)]
        self._losses += len(accepted) - sum(accepted)
        self._undecided.extend(first + i for i, taken in enumerate(accepted) if taken)
        self._decide(outcomes)
        return accepted

    def _decide(self, outcomes):
        """Outcomes of the packets that have none yet, in order, are known."""
        admitted, tokens = [], []
        for dropped, started, token in outcomes:
            packet = self._undecided.popleft()
            self._dropped[packet] = dropped
            if dropped != NEVER:
                self._losses += 1
                continue
            self._through.append(packet)
            admitted.append(started)
            tokens.append(token)
        self._admitted += admitted
        self._tokens += tokens
        self._deliver(admitted, tokens)

    def _deliver(self, admitted, tokens):
        """Plan when packets are released: in order, and at most D after their tokens were generated."""
        wish, bound, released = self._release, self.path.bound, self._released
        last = released[-1] if released else 0
        for now, token in zip(admitted, tokens, strict=True):
            at, limit = wish(now), token + bound
            if at > limit:
                at = limit
            if at > last:
                last = at
            released.append(last)

    def _observe(self, rate):
        packet, step = self.path.packet, self.path.step
        delivered = bisect_right(self._released, self._steps * step)
        if delivered > self._delivered:
            ends = self._through[delivered - 1], self._through[self._delivered]
            self._last, self._first = map(self.steps_since_sent, ends)
            self._delivered = delivered
        delay = self.delay_of(self._through[delivered - 1]) if delivered else None
        return Observation(
            step=self._steps,
            sent=len(self._sent) * packet,
            delivered=delivered * packet,
            lost=self._detected * packet,
            dropped=self._losses * packet,
            delay=delay,
            last=self._last,
            first=self._first,
            rate=rate,
            timely=self._detected * packet,
            excess=self._detected * packet,
        )


def simulate(path, sender, steps, seed=0, initial_queue=0, jitter="mixed", hiding="mixed"):
    """The Run of so many steps over a Path. sender: a function from an Observation to the rate of the coming step, in
    bytes per unit of time. The others: as of Simulation. Raises InputError for a rate that is no finite number."""
    simulation = Simulation(path, seed, initial_queue, jitter, hiding)
    for _ in range(steps):
        simulation.step(sender(simulation.observation))
    return simulation.run()
