"""Repeat a run of `ccmatic emulate`, and print the median, the smallest and the largest value of each measure.

    python -m benchmarks.studies.repeated [--runs N] OPTIONS…

OPTIONS are the options of `ccmatic emulate`. The command makes five runs by default, attempts an invalid run at most
three times, and leaves out a run without a valid attempt. Each flow has a line with its share of the bytes that leave
the link, its mean queueing delay and its loss. The first line has the measures of all flows together. If the set of
sending flows changes in a run, Jain's index has a line for each period.
"""

import argparse
import subprocess

from benchmarks.lib import real_runs
from ccmatic import records
from ccmatic.base import parse_json


def measured(options):
    """Return the MeasuresFile of one run."""
    command = ["ccmatic", "emulate", "--json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3) or not done.stdout:
        raise SystemExit(done.stderr.strip())
    row = records.convert(parse_json(done.stdout), records.MeasuresFile)
    if row.faults:
        print(f"not valid: {'; '.join(row.faults)}", flush=True)
    return row


def line(name, share, rows):
    """Return the line of a flow, or of all flows, from its measures in each run."""
    waits = [row.queueing_delay_ms.mean for row in rows if row.queueing_delay_ms.mean is not None]
    losses = [100 * row.lost / row.packets for row in rows if row.packets]
    parts = [share, "queue " + (real_runs.spread(waits, ".1f", " ms") if waits else "-")]
    parts.append("lost " + (real_runs.spread(losses, ".2f", " %") if losses else "-"))
    return f"{name:<26}" + "; ".join(parts)


def shares(rows, number):
    """Return, for each run, the share in % of a flow among the bytes that leave the link."""
    return [100 * row.flows[number].utilisation / max(sum(f.utilisation for f in row.flows), 1e-9) for row in rows]


def main():
    """Measure the runs, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=real_runs.RUNS)
    given, options = parser.parse_known_args()
    rows, _ = real_runs.valid(lambda: measured(options), runs=given.runs)
    print(f"{len(rows)} of {given.runs} runs are valid")
    if not rows:
        return
    used = real_runs.spread([100 * row.utilisation for row in rows], ".1f", " % of the link")
    print(line("all flows", used, rows))
    for number, flow in enumerate(rows[0].flows):
        share = real_runs.spread(shares(rows, number), ".1f", " % of the bytes")
        print(line(flow.flow, share, [row.flows[number] for row in rows]))
    for periods in zip(*(row.shares or () for row in rows), strict=True):
        jain = real_runs.spread([period.jain for period in periods if period.jain is not None] or [0], ".2f")
        print(f"{periods[0].from_seconds:.3g} to {periods[0].until_seconds:.3g} s: Jain's index {jain}")


if __name__ == "__main__":
    main()
