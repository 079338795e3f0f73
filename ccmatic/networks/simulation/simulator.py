"""Event simulation of one flow over a path, packet by packet, in integers.

A step lasts R_m. Once per step, the sender chooses its rate for the next step. The packets of a step are spaced evenly,
and the last packet leaves at the end of the step. At the ends of steps, every execution obeys the laws of the path's
model.
"""

from bisect import bisect_right
from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np

from ccmatic.base import InputError
from ccmatic.networks.simulation.packets import NEVER
from ccmatic.networks.simulation.run import Run


@dataclass(frozen=True)
class Observation:
    """The observations of a sender at the end of a step. Byte counts are cumulative.

    Attributes:
        step: The number of finished steps.
        sent: The bytes sent (A in the laws).
        delivered: The bytes delivered (S in the laws).
        lost: The lost bytes that the sender has detected (Ld in the laws): the bytes lost by the end of the previous
            step.
        dropped: The bytes lost so far (L in the laws). A sender observes these losses at once only on an ideal path.
        delay: The time in steps from sending to delivery of the packet delivered last; None before any delivery.
        last: The delay in whole steps of the last packet that was delivered in the latest step with a delivery (Q in
            the laws); 0 before any delivery.
        first: The delay in whole steps of the first packet that was delivered in the same step (F in the laws).
        rate: The sending rate of the last step in bytes per unit of time; 0 before the first step.
        timely: The lost bytes from which the sender can conclude that the buffer was full throughout a step. All bytes
            of `lost` belong to `timely` if each step has one sending rate and the sender detects losses within the next
            step.
        excess: The lost bytes that reveal the excess of a step's arrivals over the free buffer. All bytes of `lost`
            belong to `excess` if bytes are lost one by one and the sender detects losses within the next step.
        limited: Whether the flow sent less than its rate allowed in the last step, because its application had no data
            to send.
        marked: The bytes delivered with a mark.
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
    marked: int = 0


class Simulation:
    """A simulated execution that advances step by step.

    Attributes:
        path: The current Path.
        observation: The Observation at the end of the latest step.
    """

    def __init__(self, path, seed=0, initial_queue=0, jitter="mixed", hiding="mixed", rates=(), change=None):
        """Begin an execution.

        The initial queue, in bytes, is sent in one burst at time 0. `jitter` is a key of paths.JITTER, the pattern of
        delays after the bottleneck, and `hiding` one of paths.HIDING, the pattern by which a token bucket keeps unused
        tokens. At each of the `rates`, to which `change_rate` may change, the link must serve whole packets per step.
        """
        rng = Random(seed)
        path = path.finer(rates)
        self.path, self.seed = path, seed
        self._bottleneck = path.bottleneck(rng, hiding, change)
        self._has_change = change is not None
        self._extra = (change.instant(path), change.delay(path)) if change else (0, 0)
        self._release = path.delays(rng, jitter)
        self._carry = Fraction(0)
        self._steps = 0
        self._sent, self._dropped, self._undecided = [], [], deque()
        self._through, self._admitted, self._tokens, self._released = [], [], [], []
        self._allowed = [0]
        self._losses = self._detected = self._echoed = 0
        self._marked = set()  # the numbers of marked packets
        self._dropped_later = []  # the instants at which the link drops packets that waited
        self._changes = [(0, path)]
        self._columns = []
        self._last = self._first = self._delivered = 0
        self._send([0] * int(initial_queue // path.packet), 0)
        self.observation = self._observe(Fraction(0))

    def step(self, rate, offers=None):
        """Send for one step at `rate`, in bytes per unit of time, and return the Observation at its end.

        The sender sends whole packets, and at least one if the application offers one. A remaining fraction of a packet
        carries over to the next step. `offers` is as in `send`.
        """
        self.send(self._packets(rate), offers)
        return self.observation

    def send(self, count, offers=None):
        """Send up to `count` packets evenly over a step; the last place is at the end of the step.

        For an application that pauses, `offers` takes `count` and returns the places of the offered packets, in order.
        Place i is that of the i-th packet of an application that always sends. A rate sender sends at most one packet
        at a place; other senders may catch up later. Return for each sent packet whether the link accepts it, and keeps
        it when the path changes.
        """
        places = range(1, count + 1) if offers is None else offers(count)
        length = self.path.step
        begin = self._steps * length
        self._detected = self._lost_by_now()
        self._steps += 1
        accepted = self._send([begin + i * length // count for i in places], begin + length)
        self._allowed.append(count)
        rate = count * self.path.packet / self.path.propagation
        self.observation = self._observe(rate, limited=list(places) != list(range(1, count + 1)))
        return accepted

    @property
    def delivered(self):
        """The numbers of the packets delivered so far, in order. Packets are numbered in the order of sending."""
        return self._through[: self._delivered]

    def marked_of(self, packets):
        return sum(packet in self._marked for packet in packets)

    def delay_of(self, packet):
        number = bisect_right(self._through, packet) - 1
        return Fraction(self._released[number] - self._sent[packet], self.path.step)

    def steps_since_sent(self, packet):
        """Return the number of steps since the end of the step in which the packet with this number was sent."""
        return self._steps + -self._sent[packet] // self.path.step

    def change_rate(self, rate):
        """Change the link's rate from now on. Call this method at the end of a step.

        Packets that wait or are in flight remain where they are. Two laws look back beyond the beginning of a trace:
        the law of service within the jitter, and the law that delays fit the buffer. Both laws hold again as soon as
        all packets that are now on the path have been delivered. Only the `rates` of the beginning are possible.
        """
        if self._has_change:
            raise InputError("the path has a planned change already; expected a Simulation without `change`")
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
        """Return the Run so far. Later steps do not change the returned Run."""

        def per_packet(instants):
            column = np.full(len(self._sent), NEVER, np.int64)
            column[self._through] = instants
            return column

        return Run(
            path=self._changes[0][1],
            steps=self._steps,
            seed=self.seed,
            sent=np.array(self._sent, np.int64),
            dropped=np.array(self._dropped, np.int64),
            started=per_packet(self._admitted),
            token=per_packet(self._tokens),
            released=per_packet(self._released),
            marked=np.isin(np.arange(len(self._sent)), list(self._marked)),
            changes=tuple(self._changes[1:]),
            columns={name: [each[name] // self.path.packet for each in self._columns] for name in self._columns[0]},
            allowed=tuple(self._allowed),
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
        """Send packets at these instants of a step that ends at `end`.

        Return for each packet whether the link accepts it.
        """
        accepted, outcomes = self._bottleneck.offer(arrivals, end)
        first = len(self._sent)
        self._sent += arrivals
        self._dropped += [NEVER if taken else now for now, taken in zip(arrivals, accepted, strict=True)]
        self._losses += len(accepted) - sum(accepted)
        self._undecided.extend(first + i for i, taken in enumerate(accepted) if taken)
        self._decide(outcomes)
        return [taken and self._dropped[first + i] == NEVER for i, taken in enumerate(accepted)]

    def _lost_by_now(self):
        return self._losses + bisect_right(self._dropped_later, self._steps * self.path.step)

    def _decide(self, outcomes):
        """Record the outcomes of packets that had no outcome yet, in order."""
        admitted, tokens = [], []
        for dropped, started, token, marked in outcomes:
            packet = self._undecided.popleft()
            if marked:
                self._marked.add(packet)
            self._dropped[packet] = dropped
            if dropped != NEVER:
                self._dropped_later.append(dropped)
                continue
            self._through.append(packet)
            admitted.append(started)
            tokens.append(token)
        self._admitted += admitted
        self._tokens += tokens
        self._deliver(admitted, tokens)

    def _deliver(self, admitted, tokens):
        """Plan the release of packets. Packets leave in order, and at most D after the generation of their tokens."""
        wish, bound, released = self._release, self.path.bound, self._released
        last = released[-1] if released else 0
        change, extra = self._extra
        for now, token in zip(admitted, tokens, strict=True):
            more = extra if now > change else 0
            at, limit = wish(now) + more, token + bound + more
            if at > limit:
                at = limit
            if at > last:
                last = at
            released.append(last)

    def _observe(self, rate, limited=False):
        packet, step = self.path.packet, self.path.step
        self._columns.append(self._bottleneck.columns(self._steps * step))
        delivered = bisect_right(self._released, self._steps * step)
        if delivered > self._delivered:
            ends = self._through[delivered - 1], self._through[self._delivered]
            self._last, self._first = map(self.steps_since_sent, ends)
            self._echoed += self.marked_of(self._through[self._delivered : delivered])
            self._delivered = delivered
        delay = self.delay_of(self._through[delivered - 1]) if delivered else None
        return Observation(
            step=self._steps,
            sent=len(self._sent) * packet,
            delivered=delivered * packet,
            lost=self._detected * packet,
            dropped=self._lost_by_now() * packet,
            delay=delay,
            last=self._last,
            first=self._first,
            rate=rate,
            timely=self._detected * packet,
            excess=self._detected * packet,
            limited=limited,
            marked=self._echoed * packet,
        )


def simulate(path, sender, steps, seed=0, initial_queue=0, jitter="mixed", hiding="mixed"):
    """Return the Run of a sender, a function from an Observation to the rate of the next step, over a path."""
    simulation = Simulation(path, seed, initial_queue, jitter, hiding)
    for _ in range(steps):
        simulation.step(sender(simulation.observation))
    return simulation.run()
