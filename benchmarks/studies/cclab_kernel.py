"""What traces that harm senders in the fluid simulator do to the kernel's senders of the same names, in real packets.

    python -m benchmarks.studies.cclab_kernel FOLDER [--targets cubic vegas bbr reno] [--senders cubic reno bbr]

FOLDER: of `cclab.py`, with its adversaries. On two random traces and on the worst trace of each target's adversary of
seed 0: the share of the link that is used in %, the mean queueing delay in ms and what is lost in %, of fluids, and of
the kernel over the emulator, which needs root and real time. A run that is not valid is made once again."""

import argparse
from pathlib import Path

import numpy as np

from ccmatic.emulation import kinds, link, measures, run
from ccmatic.learning import adversaries

ATTEMPTS, RANDOM = 2, 2


def main():
    """Print the table, a row as soon as it is whole."""
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
        cells = [f"{each}: {told(*fluids[each][number])} | {kernel(each, file, first.options)}" for each in fluids]
        print(f"{name:<10}", "   ".join(cells), flush=True)


def fluid(sender, asked, rates):
    """(share used, seconds of queueing delay, share lost) of each trace."""
    found = adversaries.play(*adversaries.along(sender, asked, rates), rates.shape[1])
    return list(zip(found.used, found.delay, found.lost, strict=True))


def kernel(sender, file, asked):
    """The text of a run of the kernel's sender, for as long as the trace."""
    seconds = asked.steps * asked.rtt.ends[0] / 1000
    path = link.of_opportunities(file, f"{asked.rtt.ends[0]:g}ms", f"{asked.buffer.ends[0]:g}")
    for _ in range(ATTEMPTS):
        found = run.emulate(path, [kinds.request(sender)], seconds)
        if not found.faults:
            break
    row = measures.measures(found, 0)
    faults = "".join(f" not valid: {fault}" for fault in row.faults)
    return told(row.utilisation, row.queueing_delay_ms.mean / 1000, row.lost / row.packets) + faults


def told(used, delay, lost):
    """The text of one sender on one trace."""
    return f"{100 * used:5.1f}, {1000 * delay:4.1f}, {100 * lost:4.1f}"


if __name__ == "__main__":
    main()
