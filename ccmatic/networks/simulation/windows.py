"""Flows that send by windows over a simulated path, alone or sharing the link, and advance in steps of R_m.

At the end of each step, A(t) = max(A(t-1), S(t-1) + Ld(t) + cwnd(t)). Here A counts bytes sent, S bytes served and Ld
detected losses. If the sender also has a rate, A(t) may be smaller, as in `ccac2021`. The flow sends whole packets,
evenly over the step. The flow, not the path, adds the delay R_m of acknowledgements: behind the path's bottleneck, only
jitter delays a packet. The sender detects a loss by three later packets or by a timeout.
"""

from bisect import bisect_right
from fractions import Fraction

from ccmatic.base import InputError
from ccmatic.networks.simulation.simulator import Observation
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


class Shares:
    """The views of several flows of one Simulation that has sent no packet yet.

    In each step, the packets of all flows reach the link evenly spaced, and the last packet arrives at the end of the
    step. The packets of a flow are spread among the packets of the other flows. If a flow's packets came in a burst at
    the end of the step, they would wait for a link that was idle earlier in the step. The laws of a link of constant
    rate exclude this.
    """

    def __init__(self, simulation, flows):
        self.simulation = simulation
        self._shares = [_Share(simulation) for _ in range(flows)]
        self.flow_of = []  # The flow of each packet.
        self._delivered = 0

    def __iter__(self):
        return iter(self._shares)

    def send(self, counts):
        """Send this many packets of each flow in a step, and return what Simulation.send returns for each flow."""
        order = [flow for _, flow in sorted((Fraction(i, n), flow) for flow, n in enumerate(counts) for i in range(n))]
        accepted = self.simulation.send(len(order))
        self.flow_of += order
        own = [[] for _ in counts]
        for flow, taken in zip(order, accepted, strict=True):
            own[flow].append(taken)
        delivered = self.simulation.delivered
        for flow, share in enumerate(self._shares):
            share.sent(own[flow])
            share.receive([packet for packet in delivered[self._delivered :] if self.flow_of[packet] == flow])
        self._delivered = len(delivered)
        return own


class SharedLink(Shares):
    """Shares of flows that send by windows: a StatefulSender for each flow."""

    def __init__(self, simulation, senders):
        super().__init__(simulation, len(senders))
        self.flows = [WindowFlow(share, sender) for share, sender in zip(self, senders, strict=True)]

    def step(self):
        own = self.send([flow.packets() for flow in self.flows])
        for window, accepted in zip(self.flows, own, strict=True):
            window.learn(accepted)


class _Share:
    """One flow's view of the link. To the flow's sender, the view looks like a Simulation without other flows."""

    def __init__(self, simulation):
        self._simulation, self.path = simulation, simulation.path
        self._sent = self._lost = self._detected = self._delivered = self._last = self._first = self._step = 0
        self._marked = 0
        self._delay = None
        self.observation = self._observe(0)

    def sent(self, accepted):
        self._detected, self._latest = self._lost, len(accepted)
        self._sent += len(accepted)
        self._lost += len(accepted) - sum(accepted)

    def receive(self, packets):
        self._step += 1
        if packets:
            self._delivered += len(packets)
            self._marked += self._simulation.marked_of(packets)
            self._delay = self._simulation.delay_of(packets[-1])
            self._last, self._first = (self._simulation.steps_since_sent(packets[i]) for i in (-1, 0))
        self.observation = self._observe(self._latest)

    def _observe(self, latest):
        packet = self.path.packet
        return Observation(
            step=self._step,
            sent=self._sent * packet,
            delivered=self._delivered * packet,
            lost=self._detected * packet,
            dropped=self._lost * packet,
            delay=self._delay,
            last=self._last,
            first=self._first,
            rate=Fraction(latest * packet) / self.path.propagation,
            timely=self._detected * packet,
            excess=self._detected * packet,
            marked=self._marked * packet,
        )
