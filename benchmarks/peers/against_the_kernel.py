"""Compare exported controllers with the kernel's controllers and with the pseudocode of papers, each alone on a link.

    python -m benchmarks.peers.against_the_kernel FOLDER [--rate RATE] [--rtt RTT] [--buffer BUFFER]
                                                  [--sender NAME] [--table]

For CUBIC and BBR, the exported controller and the kernel's controller run over the emulator. The emulator needs root
and everything that BPF flows need. For Copa, Vegas and Illinois, the exported controller and the paper's pseudocode
(papers.py) are simulated packet by packet. These simulations begin with a window of one BDP. The command ignores the
first third of a run. For the rest of the run, it measures the used share of the link, the mean wait in the queue, and
the lost packets.

A cell of the emulator is five runs, because real runs differ. Its text is the median, and in brackets the smallest and
the largest value of the valid runs. The command attempts an invalid run at most three times. A simulated cell is one
run, because simulated runs do not differ.

FOLDER/runs.jsonl has a line per finished run, and the same command resumes from it. Each option restricts the cells,
and may be repeated. With --table, the command measures nothing and prints the table in Markdown.
"""

import argparse
import json
from itertools import product
from pathlib import Path

from benchmarks.lib import pages, real_runs
from benchmarks.peers import papers
from ccmatic.deployment.emulation import kinds, link, measures, run

RATES, RTTS, BUFFERS = ("24mbit", "96mbit"), ("20ms", "40ms", "100ms"), ("1/4bdp", "1bdp", "4bdp")
EMULATED = ("cubic", "bpf:cubic", "bbr", "bpf:bbr_v1")
SIMULATED = tuple(f"{kind}{name}" for name in papers.PAPERS for kind in ("", "exported "))
KEYS = ("rate", "rtt", "buffer", "sender", "run")


def requested(given):
    """Yield the keys of each run that the options request: the first run of each cell, then the second run, …"""
    choices = (given.rate or RATES, given.rtt or RTTS, given.buffer or BUFFERS, given.sender or (*EMULATED, *SIMULATED))
    for number, *cell in product(range(1, real_runs.RUNS + 1), *choices):
        if number == 1 or cell[-1] in EMULATED:
            yield dict(zip(KEYS, (*cell, number), strict=True))


def read_runs(file):
    """Return the runs in a file, by their keys."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {tuple(each[key] for key in KEYS): each for each in map(json.loads, lines)}


def measure(keys, seconds):
    """Measure a run."""
    path = link.of_texts(keys["rate"], keys["rtt"], keys["buffer"])
    if keys["sender"] in EMULATED:
        return emulated(path, keys["sender"], seconds)
    rate = path.rates[0][1]
    return papers.simulated(keys["sender"], rate, path.rtt, path.buffer, seconds, seconds / 3)


def emulated(path, name, seconds):
    """Return the measures of the first valid attempt, or those of the last attempt if none is valid."""
    emulation = real_runs.attempted(lambda: run.run_flows(path, [kinds.request(name)], seconds))
    summary = measures.summed_up(emulation, seconds / 3)
    result = {name: summary[name] for name in ("utilisation", "lost", "packets")}
    wait = summary["queueing_delay_ms"].mean
    return result | {"queue_ms": wait, "faults": list(emulation.faults)}


def text(runs):
    """Return the runs of a cell as short text: `-` if there are none."""
    valid = [each for each in runs if not each.get("faults")]
    if not valid:
        return real_runs.count(0, len(runs)) if runs else "-"
    waits = [each["queue_ms"] for each in valid if each["queue_ms"] is not None]
    wait = real_runs.spread(waits, ".0f", " ms") if waits else "-"
    used = real_runs.spread([100 * each["utilisation"] for each in valid], ".0f", " %")
    lost = real_runs.spread([each["lost"] for each in valid], ".0f")
    return f"{used}, {wait}, {lost}{real_runs.count(len(valid), len(runs))}"


def table(done, given):
    """Return the lines of the table in Markdown, with a row per link and a column per sender."""
    senders = given.sender or (*EMULATED, *SIMULATED)
    rows = []
    for where in product(given.rate or RATES, given.rtt or RTTS, given.buffer or BUFFERS):
        cells = [[each for key, each in done.items() if key[:-1] == (*where, sender)] for sender in senders]
        rows.append([" ".join(where), *map(text, cells)])
    return pages.table(["link", *senders], rows)


def main():
    """Measure the missing cells, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    for key, choices in zip(KEYS[:-1], (RATES, RTTS, BUFFERS, (*EMULATED, *SIMULATED)), strict=True):
        parser.add_argument(f"--{key}", action="append", choices=choices)
    parser.add_argument("--seconds", type=float, default=8, help="the length of each run")
    parser.add_argument("--table", action="store_true", help="only print the table")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    file = given.folder / "runs.jsonl"
    done = read_runs(file)
    for keys in [] if given.table else requested(given):
        key = tuple(keys.values())
        if key not in done:
            done[key] = keys | measure(keys, given.seconds)
            with file.open("a") as lines:
                lines.write(json.dumps(done[key]) + "\n")
            print(*key, text([done[key]]), sep=", ", flush=True)
    print("\n".join(table(done, given)))


if __name__ == "__main__":
    main()
