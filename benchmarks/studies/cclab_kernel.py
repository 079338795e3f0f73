"""Check whether traces that harm senders in the fluid simulator also harm the kernel's senders, with real packets.

    python -m benchmarks.studies.cclab_kernel FOLDER [--targets cubic vegas bbr reno] [--senders cubic reno bbr]

FOLDER is the folder of `cclab.py`, which has the adversaries. The traces are two random traces, and the worst trace of
each target's adversary of seed 0. The command prints the used share of the link in %, the mean queueing delay in ms and
the lost share in %. The command prints these values for fluids, and for the kernel over the emulator. A cell of the
emulator is five runs: the median and, in brackets, the smallest and the largest value of the valid runs. The command
attempts an invalid run at most three times. The emulator needs root and real time.
"""

import argparse
from pathlib import Path

import numpy as np

from benchmarks.lib import real_runs
from ccmatic.deployment.emulation import kinds, link, measures, run
from ccmatic.learning import adversaries

RANDOM = 2


def main():
    """Print the table, each row as soon as it is complete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--targets", nargs="+", default=("cubic", "vegas", "bbr", "reno"))
    parser.add_argument("--senders", nargs="+", default=("cubic", "reno", "bbr"))
    given = parser.parse_args()
    trained = [adversaries.load(given.folder / f"against_{target}_0.json") for target in given.targets]
    first = trained[0].attack
    at_random = adversaries.baseline(first).rates[:, :RANDOM]
    rates = np.column_stack([at_random, *(each.trace()[0] for each in trained)])
    names = [f"random-{number}" for number in range(RANDOM)] + [f"{target}-0" for target in given.targets]
    fluids = {name: fluid(name, first.options, rates) for name in given.senders}
    traces = given.folder / "traces"
    traces.mkdir(exist_ok=True)
    for number, name in enumerate(names):
        file = adversaries.written(traces, name, rates[:, number], first.options)
        cells = [
            f"{each}: {cell_text([fluids[each][number]])} | {kernel(each, file, first.options)}" for each in fluids
        ]
        print(f"{name:<10}", "   ".join(cells), flush=True)


def fluid(sender, options, rates):
    """Return (used share, queueing delay in seconds, lost share) for each trace."""
    episodes = adversaries.play(*adversaries.along(sender, options, rates), rates.shape[1])
    return list(zip(episodes.used, episodes.delay, episodes.lost, strict=True))


def kernel(sender, file, options):
    """Run the kernel's sender for the duration of the trace, five times, and return the results as text."""
    seconds = options.steps * options.rtt.ends[0] / 1000
    path = link.of_opportunities(file, f"{options.rtt.ends[0]:g}ms", f"{options.buffer.ends[0]:g}")
    runs, note = real_runs.valid(lambda: run.run_flows(path, [kinds.request(sender)], seconds))
    rows = [measures.measures(emulation, 0) for emulation in runs]
    results = [(row.utilisation, row.queueing_delay_ms.mean / 1000, row.lost / row.packets) for row in rows]
    return (cell_text(results) if results else "") + note


def cell_text(runs):
    """Return the results of one sender on one trace as text, from its results in each run."""
    scales = zip((100, 1000, 100), zip(*runs, strict=True), strict=True)
    return ", ".join(real_runs.spread([scale * value for value in values], ".1f") for scale, values in scales)


if __name__ == "__main__":
    main()
