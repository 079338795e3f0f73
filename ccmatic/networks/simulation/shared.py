"""Flows that share a simulated link. Each flow sends by a window, and all flows advance in steps of R_m."""

from fractions import Fraction

from ccmatic.networks.simulation.simulator import Observation
from ccmatic.networks.simulation.windows import WindowFlow


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
