"""A flow that sends by a window over a simulated path, and advances in steps of R_m.

At the end of each step, A(t) = max(A(t-1), S(t-1) + Ld(t) + cwnd(t)). Here A counts bytes sent, S bytes served and Ld
detected losses. If the sender also has a rate, A(t) may be smaller, as in `ccac2021`. The flow sends whole packets,
evenly over the step. The flow, not the path, adds the delay R_m of acknowledgements: behind the path's bottleneck, only
jitter delays a packet. The sender detects a loss by three later packets or by a timeout.
"""

from bisect import bisect_right

from ccmatic.base import InputError
from ccmatic.worlds.runtime import StepObservations

#: A loss is detected once this many later packets have been acknowledged.
DUPACKS = 3


class WindowFlow:
    """A flow over a Simulation of a link.

    A timeout fires when no packet is in flight any more and at least one loss is undetected. As in the model, a timeout
    fires at once. A timeout never fires for losses that the sender has already detected.

    Attributes:
        simulation: The Simulation.
        sender: The StatefulSender.
        seen: The StepObservations that the sender received last.
        detected: The number of losses that the sender has detected by later acknowledgements.
        offers: A function for an application that pauses, as in `Simulation.send`. None means that the application
            always has packets to send.
    """

    def __init__(self, simulation, sender, offers=None):
        if simulation.path.model.loses_waiting:
            raise InputError(f"no window is simulated on {simulation.path.model.name}, which drops waiting packets")
        self.simulation, self.sender, self.seen, self.detected = simulation, sender, None, 0
        self.offers = offers
        self._acked = self._lost = self._steps = self._budget = 0
        self._sent = simulation.observation.sent // simulation.path.packet
        self._before = []  # For each lost packet: the number of earlier packets that were not lost.

    def step(self):
        self.learn(self.simulation.send(self.packets(), self.offers))

    def packets(self):
        step, packet = self._observe(), self.simulation.path.packet
        self.seen = step
        self.sender.step(step)
        allowed = max(0, step.acked + step.lost + self.sender.window() - step.sent)
        self._budget += self.sender.rate_per_step()
        packets = min(allowed, self._budget) // packet
        # The flow does not send later the packets that the window held back. Only a fraction of a packet carries over.
        self._budget = min(self._budget - packets * packet, packet - 1)
        return packets

    def learn(self, accepted):
        """Record the packets of this step that the link accepts. The sender will detect the lost packets later.

        For each lost packet, the flow stores the number of earlier packets that were not lost.
        """
        before = self._sent - len(self._before)
        lost = [i for i, taken in enumerate(accepted) if not taken]
        self._sent += len(accepted)
        self._before += [before + i - number for number, i in enumerate(lost)]

    def _observe(self):
        latest, packet = self.simulation.observation, self.simulation.path.packet
        measured, self._acked = latest.delivered > self._acked, latest.delivered
        self.detected = bisect_right(self._before, latest.delivered // packet - DUPACKS)
        self._lost = max(self._lost, self.detected)
        timeout = latest.delivered + latest.dropped == latest.sent and self._lost * packet < latest.dropped
        if timeout:
            self._lost = len(self._before)
        self._steps += 1
        return StepObservations(
            acked=latest.delivered,
            lost=self._lost * packet,
            sent=latest.sent,
            admitted=latest.sent - self._lost * packet,
            time=self._steps,
            delay=latest.last if latest.delivered else -1,
            timeout=timeout,
            measured=measured,
            app_limited=latest.limited,
            waited=int(4096 * latest.delay) if latest.delivered else 0,
            marked=latest.marked,
        )
