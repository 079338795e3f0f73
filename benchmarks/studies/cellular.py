"""Senders alone over link traces of mahimahi, R_m 40 ms: what they use, how long packets wait, what is lost, and how
often their beliefs are true. Needs root, and what BPF flows need.

    python -m benchmarks.studies.cellular [--buffer 2bdp] TRACE…

A run of 30 s of each sender on each trace, measured from 10 s on; one that is not valid is made twice again at most.
A cell: of the link, %; queueing delay, mean and p95, ms; lost of what is sent, %. Then, of those that form beliefs, in
how many % of the steps C_L ≤ C, C ≤ C_U or C_Llambda ≤ C, where C is the mean rate of the link since a window ago.
"""

import argparse
from pathlib import Path

import numpy as np

from ccmatic.emulation import kinds, link, measures, run

SENDERS = ("cubic", "bbr", "bpf:cc_qdel", "udp:cc_qdel", "bpf:cc_probe_slow", "udp:cc_probe_slow")
SECONDS, WARMUP, ATTEMPTS = 30, 10, 3


def emulated(asked, sender):
    """The Emulation of a sender, a valid one if there is."""
    for _ in range(ATTEMPTS):
        found = run.emulate(asked, [kinds.request(sender)], SECONDS)
        if not found.faults:
            break
    return found


def rates(asked, steps):
    """At the end of each step, the mean rate of the link since a window ago, in bytes a step as the sender counts."""
    times, lengths = steps.columns["time"], steps.columns["step_ns"]
    spans = zip(np.maximum(times - steps.log.window * lengths, 0).tolist(), times.tolist(), strict=True)
    means = [asked.capacity(begin, end) / (8 * run.SECOND) / (end - begin) for begin, end in spans]
    return means * lengths * steps.columns["packet"] / asked.mtu


def true(asked, steps):
    """In how many % of the steps that are measured each bound on the rate is true, by what it says."""
    measured = (steps.columns["time"] > WARMUP * run.SECOND) & (steps.columns["time"] <= SECONDS * run.SECOND)
    columns = {name: column[measured] for name, column in steps.columns.items()}
    C = rates(asked, type(steps)(columns, steps.log))
    says = {"C_L": "C_L ≤ C", "C_U": "C ≤ C_U", "C_Llambda": "C_Llambda ≤ C"}
    holds = {name: C <= columns[name] if name == "C_U" else columns[name] <= C for name in says if name in columns}
    return {says[name]: 100 * float(np.mean(each)) for name, each in holds.items()}


def cell(asked, sender):
    """The text of one run."""
    found = emulated(asked, sender)
    row, (steps,) = measures.measures(found, WARMUP), found.steps
    delay, lost = row.queueing_delay_ms, 100 * row.lost / row.packets
    told = f"{100 * row.utilisation:.0f}; {delay.mean:.0f}, {delay.p95:.0f}; {lost:.2g}"
    beliefs = ", ".join(f"{says} {percent:.0f}" for says, percent in true(asked, steps).items()) if steps else ""
    return "; ".join(filter(None, (told, beliefs, *(f"not valid: {fault}" for fault in row.faults))))


def main():
    """Print the table, a row as soon as it is whole."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    parser.add_argument("--buffer", default="2bdp")
    arguments = parser.parse_args()
    links = [link.of_opportunities(file, "40ms", arguments.buffer) for file in arguments.traces]
    print(f"| {arguments.buffer} | {' | '.join(Path(file).name for file in arguments.traces)} |")
    print("|---" * (len(links) + 1) + "|")
    for sender in SENDERS:
        print(f"| {sender} | {' | '.join(cell(asked, sender) for asked in links)} |", flush=True)


if __name__ == "__main__":
    main()
