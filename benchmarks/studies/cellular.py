"""Run senders alone over mahimahi link traces, with an R_m of 40 ms.

    python -m benchmarks.studies.cellular [--buffer 2bdp] TRACE…

The command needs root, and everything that BPF flows need. Each sender runs for 30 s on each trace, and is measured
after the first 10 s. A cell has the used share of the link in %, the mean and the 95th percentile of the queueing delay
in ms, and the lost share of the sent packets in %. For senders that form beliefs, a cell also has the percentages of
steps in which C_L ≤ C, C ≤ C_U and C_Llambda ≤ C are true. In these inequalities, C is the mean rate of the link over
the last window. A cell is five runs: each value is the median and, in brackets, the smallest and the largest value of
the valid runs. The command attempts an invalid run at most three times.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.lib import real_runs
from ccmatic.deployment.emulation import kinds, link, measures, run

SENDERS = ("cubic", "bbr", "bpf:cc_qdel", "udp:cc_qdel", "bpf:cc_probe_slow", "udp:cc_probe_slow")
SECONDS, WARMUP = 30, 10


def rates(path, steps):
    """Return the mean rate of the link over the last window, in bytes per step, at the end of each step.

    The function counts bytes in the same way as the sender.
    """
    times, lengths = steps.columns["time"], steps.columns["step_ns"]
    spans = zip(np.maximum(times - steps.log.window * lengths, 0).tolist(), times.tolist(), strict=True)
    means = [path.capacity(begin, end) / (8 * run.SECOND) / (end - begin) for begin, end in spans]
    return means * lengths * steps.columns["packet"] / path.mtu


def true(path, steps):
    """Return the percentage of measured steps in which each bound on the rate is true, by the bound's inequality."""
    measured = (steps.columns["time"] > WARMUP * run.SECOND) & (steps.columns["time"] <= SECONDS * run.SECOND)
    columns = {name: column[measured] for name, column in steps.columns.items()}
    C = rates(path, type(steps)(columns, steps.log))
    says = {"C_L": "C_L ≤ C", "C_U": "C ≤ C_U", "C_Llambda": "C_Llambda ≤ C"}
    holds = {name: C <= columns[name] if name == "C_U" else columns[name] <= C for name in says if name in columns}
    return {says[name]: 100 * float(np.mean(bound_holds)) for name, bound_holds in holds.items()}


def cell(path, sender):
    """Return the results of the runs of a sender as text."""
    valid, note = real_runs.valid(lambda: run.run_flows(path, [kinds.request(sender)], SECONDS))
    if not valid:
        return note
    rows = [measures.measures(emulation, WARMUP) for emulation in valid]
    used = real_runs.spread([100 * row.utilisation for row in rows], ".0f")
    mean, p95 = (
        real_runs.spread([getattr(row.queueing_delay_ms, name) for row in rows], ".0f") for name in ("mean", "p95")
    )
    lost = real_runs.spread([100 * row.lost / row.packets for row in rows], ".2g")
    beliefs = [true(path, emulation.steps[0]) for emulation in valid if emulation.steps[0]]
    names = beliefs[0] if beliefs else ()
    held = ", ".join(f"{name} {real_runs.spread([each[name] for each in beliefs], '.0f')}" for name in names)
    return "; ".join(filter(None, (used, f"{mean}, {p95}", lost, held))) + note


def main():
    """Print the table, each row as soon as it is complete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    parser.add_argument("--buffer", default="2bdp")
    arguments = parser.parse_args()
    links = [link.of_opportunities(file, "40ms", arguments.buffer) for file in arguments.traces]
    print(f"| {arguments.buffer} | {' | '.join(Path(file).name for file in arguments.traces)} |")
    print("|---" * (len(links) + 1) + "|")
    for sender in SENDERS:
        print(f"| {sender} | {' | '.join(cell(path, sender) for path in links)} |", flush=True)


if __name__ == "__main__":
    main()
