"""Measure the least share of two flows of a contract that measure R_m themselves, in virtual time.

    python -m benchmarks.studies.fair_late [CONTROLLER …] [--seconds SECONDS]

The proof of `contract` gives each of two flows at least a quarter of the bytes served in every 65 R_m. In the proof,
both flows know R_m. Here each flow takes the smallest RTT so far for R_m, so a flow that starts beside a queue takes
too large a value. The links carry 5/2 to 25 packets per R_m of 20, 40 or 80 ms, with jitter of 0 or R_m, and lose no
packet. The flows start at once, or with one of 40 times between their starts, up to 20 s. A row has all links of one
rate: the least share in a window of 65 R_m, and the number of runs in which a share is below a quarter. The windows
begin at least 65 R_m after the second start, or in the second half of the run.
"""

import argparse
from itertools import product

import numpy as np

from benchmarks.lib import pages
from benchmarks.studies.fairness import NS, Link
from ccmatic.judging import running, subjects

WINDOW, PROVED = 65, 1 / 4
PACKETS = (2.5, 3, 4, 10, 25)
AT_ONCE, LATE = [0.001], [count / 2 for count in range(1, 41)]


def least(session, controller, link, seconds, apart):
    """Return the least share of a flow in the windows after the second start, and in those of the second half."""
    packets = session.run(link.scenario(controller, seconds, apart)).packets
    assert not packets["lost"].any()
    rtt = link.rtt * 10**6
    begins = np.arange(int(apart * NS) + WINDOW * rtt, seconds * NS - WINDOW * rtt + 1, rtt)
    served = []
    for flow in (0, 1):
        left = np.sort(packets["admitted"][packets["flow"] == flow])
        served.append(np.searchsorted(left, begins + WINDOW * rtt) - np.searchsorted(left, begins))
    shares = np.minimum(*served) / np.sum(served, axis=0)
    return float(shares.min()), float(shares[begins >= seconds * NS // 2].min())


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=["contract"])
    parser.add_argument("--seconds", type=int, default=60, help="the length of each run")
    given = parser.parse_args()
    rows = []
    for controller, packets in product(given.controllers, PACKETS):
        links = [Link(packets, rtt, jitter, 2000, 2) for rtt, jitter in product((20, 40, 80), (0, 1))]
        with running.Session(subjects.subject(controller)) as session:
            at_once, late = (
                [least(session, controller, link, given.seconds, apart) for link, apart in product(links, starts)]
                for starts in (AT_ONCE, LATE)
            )
        columns = ([first for first, _ in at_once], *zip(*late, strict=True))
        cells = [f"{min(found):.2f}; {sum(share < PROVED for share in found)} of {len(found)}" for found in columns]
        rows.append([controller, f"{packets:g}", *cells])
    head = ["controller", "packets per R_m", "start at once", "start late", "start late, second half"]
    print("\n".join(pages.table(head, rows)))


if __name__ == "__main__":
    main()
