"""Compare how fairly controllers share a link with flows of their own kind, in virtual time.

    python -m benchmarks.studies.fairness [--seconds SECONDS] [--apart SECONDS] [CONTROLLER …]

The grid has links of 4, 10 and 25 packets per R_m, an R_m of 20 and 80 ms, a jitter of 0 and R_m (the link releases
packets in bursts), buffers of 2 and 60 BDP, and 2 and 4 flows. The flows start `--apart` seconds after each other. All
flows are exported controllers that send over the path of `ccmatic judge`. Jain's index is about the bytes that leave
the link in intervals of 2 s and 10 s, from the middle of the run on. The table has the worst and the median index over
all intervals of all links, the worst link, the lowest utilisation, and the largest loss. A run in which no flow is
served has the index 0.

A second table has the links on which the first controller is less fair than another one, by more than 0.05 in the worst
interval of 10 s.
"""

import argparse
import sys
from dataclasses import dataclass
from itertools import product
from statistics import median

import numpy as np

from ccmatic import records
from ccmatic.judging import running, subjects
from ccmatic.judging.scenario import Scenario

CONTROLLERS = ("contract", "frcc", "cubic", "reno", "bbr", "vegas", "copa", "cc_qdel")
NS, PACKET = 10**9, 1500
INTERVALS = (2, 10)

#: The difference of two indices that counts as none.
TIE = 0.05


@dataclass(frozen=True)
class Link:
    """A link of the grid: packets per R_m, R_m in ms, D in R_m, the buffer in BDP, and the number of flows."""

    packets: float
    rtt: int
    jitter: int
    buffer: int
    flows: int

    def __str__(self):
        path = f"{self.packets} packets per R_m of {self.rtt} ms, D = {self.jitter} R_m"
        return f"{path}, {self.buffer} BDP, {self.flows} flows"

    def scenario(self, beside, seconds, apart=2):
        """Return the scenario in which all flows but the first run the controller `beside`.

        Each flow starts `apart` seconds after the one before.
        """
        rtt, jitter = self.rtt * 10**6, self.jitter * self.rtt * 10**6
        bursts = range(jitter, seconds * NS - 2 * jitter, 2 * jitter) if jitter else ()
        flows = [
            records.FlowRecord(start=int(apart * NS) * number, beside=beside if number else None)
            for number in range(self.flows)
        ]
        return Scenario(
            duration=seconds * NS,
            rate=int(self.packets * PACKET * 8 * 1000 / self.rtt),
            rtt=rtt,
            buffer=int(self.buffer * self.packets * PACKET),
            jitter=jitter,
            flows=tuple(flows),
            events=tuple(records.HoldEvent(at=at, length=jitter) for at in bursts),
        )


GRID = [Link(*values) for values in product((4, 10, 25), (20, 80), (0, 1), (2, 60), (2, 4))]


def jain(shares):
    """Return Jain's index of the flows' bytes; 0 if no byte was served."""
    return float(shares.sum() ** 2 / (len(shares) * (shares**2).sum())) if shares.any() else 0.0


def indices(recording, link, seconds):
    """Return Jain's indices of consecutive intervals of each length, from the middle of the run on."""
    served = recording.packets[recording.packets["lost"] == 0]
    found = {}
    for length in INTERVALS:
        edges = np.arange(seconds // 2, seconds + 1, length) * NS
        tables = [
            np.histogram(
                served["admitted"][served["flow"] == flow], edges, weights=served["size"][served["flow"] == flow]
            )[0]
            for flow in range(link.flows)
        ]
        found[length] = [jain(column) for column in np.array(tables, float).T]
    return found


def measure(controller, seconds, apart):
    """Return, for each link, the indices, the utilisation and the loss of the second half of a run."""
    rows = {}
    with running.Session(subjects.subject(controller)) as session:
        for link in GRID:
            plan = link.scenario(controller, seconds, apart)
            recording = session.run(plan)
            if recording.failure:
                print(f"{controller} on {link}: {recording.failure}", file=sys.stderr)
            late = recording.packets[recording.packets["arrival"] >= seconds // 2 * NS]
            passed = late[late["lost"] == 0]
            used = float(passed["size"].sum()) * 8 / plan.rate / (seconds - seconds // 2)
            lost = 1 - len(passed) / len(late) if len(late) else 0.0
            rows[link] = indices(recording, link, seconds), used, lost
    return rows


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=CONTROLLERS)
    parser.add_argument("--seconds", type=int, default=60, help="the length of each run")
    parser.add_argument("--apart", type=float, default=2, help="the time between the starts of two flows, in seconds")
    given = parser.parse_args()
    if given.seconds < 2 * INTERVALS[-1]:
        parser.error(f"runs of {given.seconds} s; expected at least {2 * INTERVALS[-1]} s, which is twice an interval")
    columns = "worst, 2 s | median, 2 s | worst, 10 s | median, 10 s | least utilisation | most loss | worst link, 10 s"
    print(f"| controller | {columns} |")
    print("|---|---|---|---|---|---|---|---|")
    measured = {}
    for controller in given.controllers:
        rows = measured[controller] = measure(controller, given.seconds, given.apart)
        cells = []
        for length in INTERVALS:
            every = [index for found, _, _ in rows.values() for index in found[length]]
            cells += [f"{min(every):.2f}", f"{median(every):.2f}"]
        worst = min(rows, key=lambda link: min(rows[link][0][INTERVALS[-1]]))
        cells += [
            f"{min(used for _, used, _ in rows.values()):.0%}",
            f"{max(lost for _, _, lost in rows.values()):.0%}",
        ]
        print(f"| {controller} | {' | '.join(cells)} | {worst} |", flush=True)
    if len(measured) > 1:
        print("", *_lost(measured), sep="\n")


def _lost(measured):
    """Yield the table of the links on which the first controller is less fair than another one."""
    first, *others = measured
    yield f"| link | {first}, worst 10 s | fairer controllers |"
    yield "|---|---|---|"
    for link in GRID:
        worst = {name: min(rows[link][0][INTERVALS[-1]]) for name, rows in measured.items()}
        fairer = [f"{name} {worst[name]:.2f}" for name in others if worst[name] > worst[first] + TIE]
        if fairer:
            yield f"| {link} | {worst[first]:.2f} | {', '.join(fairer)} |"


if __name__ == "__main__":
    main()
