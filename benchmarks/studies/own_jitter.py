"""Measure how two flows share a link if each has jitter of its own, packet by packet.

    python -m benchmarks.studies.own_jitter [--steps STEPS] [CONTROLLER …]

Both flows are exported controllers, know R_m, and begin together. The link is first in, first out, has a constant rate
and an infinite buffer, and carries 4, 10 or 24 packets per R_m. Behind the link, the box of each flow holds its packets
for up to R_m, in order. The networks differ in the box's rule. The table has the least share of the bytes that one flow
gets, over all networks: in windows of 161 R_m, of 1000 R_m, and in the whole run without its first 1000 R_m.

Controllers that slow down only after losses do not stop growing on this link, so they are left out.
"""

import argparse
import random
from itertools import product
from math import ceil, floor

import numpy as np

from benchmarks.lib import pages
from ccmatic.deployment import exporting
from ccmatic.worlds.runtime import Library, StatefulSender, StepObservations

CONTROLLERS = ("contract", "frcc", "bbr", "vegas", "copa")
RATES = (4, 10, 24)
PACKET, WARM_UP = 1500, 1000
WINDOWS = (161, 1000)

#: The rules of the boxes. A rule returns the hold of a packet in R_m, from its flow and its instant behind the link.
RULES = {
    "no jitter": lambda flow, now, draw: 0,
    "one flow is late": lambda flow, now, draw: flow,
    "one flow in bursts": lambda flow, now, draw: flow * (ceil(now) - now),
    "both in bursts": lambda flow, now, draw: ceil(now) - now,
    "late in turn, 50 R_m": lambda flow, now, draw: float(int(now) // 50 % 2 == flow),
    "late in turn, 400 R_m": lambda flow, now, draw: float(int(now) // 400 % 2 == flow),
    "at random": lambda flow, now, draw: draw.random(),
}


class Flow:
    """A sender, and its packets from sending to acknowledgement.

    Attributes:
        sent: The instants at which packets leave, in R_m.
        acked: The instants at which they are acknowledged.
    """

    def __init__(self, library):
        self.sender = StatefulSender(library, PACKET)
        self.sent, self.acked = [], []
        self.number = self.budget = self.late = 0

    def packets(self, now):
        """End a step, and return the number of packets that leave in the next one."""
        before = self.number
        while self.number < len(self.acked) and self.acked[self.number] <= now:
            self.number += 1
        acked, sent = self.number * PACKET, len(self.sent) * PACKET
        left = self.sent[self.number - 1] if self.number else 0
        waited = self.acked[self.number - 1] - left - 1 if self.number else 0
        seen = StepObservations(
            acked=acked,
            sent=sent,
            admitted=sent,
            time=now,
            delay=max(0, floor(now - left) - 1) if self.number else -1,
            measured=self.number > before,
            waited=int(4096 * waited),
        )
        if seen.delay >= 0 and not seen.measured:
            seen.delay = self.late
        self.late = seen.delay
        self.sender.step(seen)
        self.budget += self.sender.rate_per_step()
        count = min(max(0, acked + self.sender.window() - sent), self.budget) // PACKET
        self.budget = min(self.budget - count * PACKET, PACKET - 1)
        return count


def run(library, rate, rule, steps):
    """Return the packets of each flow that the link has served by each step, as an array of two rows."""
    flows, draw = [Flow(library), Flow(library)], random.Random(1)
    served, free, released = np.zeros((2, steps), int), 0.0, [0.0, 0.0]
    for now in range(1, steps):
        counts = [flow.packets(now) for flow in flows]
        leaving = sorted((now + i / n, number) for number, n in enumerate(counts) for i in range(n))
        for instant, number in leaving:
            free = max(free, instant) + 1 / rate
            released[number] = max(released[number], free + rule(number, free, draw))
            flows[number].sent.append(instant)
            flows[number].acked.append(released[number] + 1)
            if free < steps:
                served[number, floor(free)] += 1
    return served.cumsum(axis=1)


def least_share(served, window):
    """Return the least share of a flow in any window of this length, in steps, after the warm-up."""
    late = served[:, WARM_UP:]
    gained = late[:, window:] - late[:, :-window]
    return float((gained.min(axis=0) / np.maximum(1, gained.sum(axis=0))).min())


def main():
    """Print a row of the table for each controller."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=CONTROLLERS)
    parser.add_argument("--steps", type=int, default=5000, help="the length of each run, in R_m")
    given = parser.parse_args()
    rows = []
    for name in given.controllers:
        library, found = Library(exporting.make(name)), []
        for rate, (rule, hold) in product(RATES, RULES.items()):
            served = run(library, rate, hold, given.steps)
            shares = [least_share(served, window) for window in (*WINDOWS, given.steps - WARM_UP - 1)]
            used = (served[:, -1] - served[:, WARM_UP]).sum() / rate / (given.steps - WARM_UP)
            found.append((shares, used, f"{rate} packets per R_m, {rule}"))
        least = [min(shares[place] for shares, _, _ in found) for place in range(len(WINDOWS) + 1)]
        worst = min(found, key=lambda each: each[0][-1])[2]
        rows.append([name, *(f"{each:.2f}" for each in least), f"{min(used for _, used, _ in found):.0%}", worst])
    head = ["controller", *(f"{window} R_m" for window in WINDOWS), "whole run", "least utilisation", "worst network"]
    print("\n".join(pages.table(head, rows)))


if __name__ == "__main__":
    main()
