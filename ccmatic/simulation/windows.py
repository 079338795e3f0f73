"""A flow that sends by a window over a simulated path, a step of R_m at a time.

At the end of each step A(t) = max(A(t-1), S(t-1) + Ld(t) + cwnd(t)), or less where the sender has a rate, as in
`ccac2021`; in whole packets, which leave evenly over the step. Acknowledgements take R_m, which the path does not have:
its jitter is all that delays a packet behind the bottleneck. A loss is found by three packets later, or by a timeout.
"""

from bisect import bisect_right

from ccmatic.base import InputError
from ccmatic.runtime import StepObservations

#: Packets acknowledged beyond one that is lost, by which it is found.
DUPACKS = 3


class WindowFlow:
    """A flow over a Simulation of a link; InputError if that drops packets that wait. sender: a StatefulSender. `seen`:
    what it was told last, a StepObservations; `detected`: how many losses the sender has detected
    by later acknowledgements.

    A timeout fires when nothing is on its way any more of what was sent, and a loss is not found: at once, as in the
    model, but not for losses that are known.
    """

    def __init__(self, simulation, sender):
        if simulation.path.model.loses_waiting:
            raise InputError(f"no window is simulated on {simulation.path.model.name}, which drops packets that wait")
        self.simulation, self.sender, self.seen, self.detected = simulation, sender, None, 0
        self._acked = self._lost = self._steps = self._budget = 0
        self._sent = simulation.observation.sent // simulation.path.packet
        self._before = []  # of each packet lost: how many were sent before it and not lost

    def step(self):
        """The next step."""
        self.learn(self.simulation.send(self.packets()))

    def packets(self):
        """How many packets leave in the next step."""
        seen, packet = self._look(), self.simulation.path.packet
        self.seen = seen
        self.sender.step(seen)
        allowed = max(0, seen.acked + seen.lost + self.sender.window() - seen.sent)
        self._budget += self.sender.rate_per_step()
        packets = min(allowed, self._budget) // packet
        # What a window kept back is not made up for; what is less than a packet is left for the next step.
        self._budget = min(self._budget - packets * packet, packet - 1)
        return packets

    def learn(self, accepted):
        """Learn which of the packets of this step the link accepts. The lost ones are found later, by the number of
        packets sent before each that were not lost."""
        before = self._sent - len(self._before)
        lost = [i for i, taken in enumerate(accepted) if not taken]
        self._sent += len(accepted)
        self._before += [before + i - number for number, i in enumerate(lost)]

    def _look(self):
        seen, packet = self.simulation.observation, self.simulation.path.packet
        measured, self._acked = seen.delivered > self._acked, seen.delivered
        self.detected = bisect_right(self._before, seen.delivered // packet - DUPACKS)
        self._lost = max(self._lost, self.detected)
        timeout = seen.delivered + seen.dropped == seen.sent and self._lost * packet < seen.dropped
        if timeout:
            self._lost = len(self._before)
        self._steps += 1
        return StepObservations(
            acked=seen.delivered,
            lost=self._lost * packet,
            sent=seen.sent,
            admitted=seen.sent - self._lost * packet,
            time=self._steps,
            delay=seen.last if seen.delivered else -1,
            timeout=timeout,
            measured=measured,
            waited=int(4096 * seen.delay) if seen.delivered else 0,
        )
