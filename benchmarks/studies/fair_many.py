"""Measure how fairly up to 64 flows of a contract share links of up to 1,000 Mbit/s, in virtual time.

    python -m benchmarks.studies.fair_many [CONTROLLER …]

Flows start 1/4 s apart. Measurement begins 8 s after the last start, and lasts 16 s. The link delivers at once, or in
bursts of R_m, and has a buffer of 60 BDP. Jain's index is about all bytes that leave the link in this time.
"""

import argparse

import numpy as np
from msgspec.structs import replace

from benchmarks.lib import pages
from benchmarks.studies.fairness import NS, Link, jain
from ccmatic import records
from ccmatic.judging import running, subjects

#: Packets per R_m, R_m in ms, and the number of flows.
PATHS = ((25, 80, 4), (83, 10, 8), (83, 1, 8), (250, 10, 16), (833, 10, 64))
APART, SETTLED, MEASURED = NS // 4, 8 * NS, 16 * NS


def measure(session, link, controller):
    """Return Jain's index, the least part of a fair share, the utilisation, the loss, and the mean queueing delay."""
    begin = APART * (link.flows - 1) + SETTLED
    plan = link.scenario(controller, (begin + MEASURED) // NS + 1)
    flows = [records.FlowRecord(start=APART * number, beside=flow.beside) for number, flow in enumerate(plan.flows)]
    packets = session.run(replace(plan, flows=tuple(flows))).packets
    arrived = packets[(packets["arrival"] >= begin) & (packets["arrival"] < begin + MEASURED)]
    left = packets[(packets["lost"] == 0) & (packets["admitted"] >= begin) & (packets["admitted"] < begin + MEASURED)]
    served = np.bincount(left["flow"], left["size"], minlength=link.flows)
    waited = float((left["admitted"].astype(float) - left["arrival"]).mean()) / link.rtt / 1e6
    used = served.sum() * 8 * NS / plan.rate / MEASURED
    return jain(served), served.min() * link.flows / served.sum(), used, (arrived["lost"] != 0).mean(), waited


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=["contract"])
    given = parser.parse_args()
    head = ["controller", "Mbit/s", "R_m", "D", "flows", "Jain", "least part of a fair share", "used", "lost", "queue"]
    rows = []
    for controller in given.controllers:
        with running.Session(subjects.subject(controller)) as session:
            for packets, rtt, flows in PATHS:
                for jitter in (0, 1):
                    link = Link(packets, rtt, jitter, 60, flows)
                    index, least, used, lost, waited = measure(session, link, controller)
                    path = [f"{packets * 12 / rtt:.0f}", f"{rtt} ms", f"{jitter} R_m", str(flows)]
                    figures = [f"{index:.2f}", f"{least:.2f}", f"{used:.0%}", f"{lost:.1%}", f"{waited:.1f} R_m"]
                    rows.append([controller, *path, *figures])
    print("\n".join(pages.table(head, rows)))


if __name__ == "__main__":
    main()
