"""Compare exported controllers with the kernel's controllers and with the pseudocode of papers, each alone on a link.

    python -m benchmarks.peers.against_the_kernel FOLDER [--rate RATE] [--rtt RTT] [--buffer BUFFER]
                                                  [--sender NAME] [--table]

For CUBIC and BBR, the exported controller and the kernel's controller run over the emulator. The emulator needs root
and everything that BPF flows need. For Copa, Vegas and Illinois, the exported controller and the paper's pseudocode
(papers.py) are simulated packet by packet. These simulations begin with a window of one BDP. The command ignores the
first third of a run. For the rest of the run, it measures the used share of the link, the mean wait in the queue, and
the lost packets.

FOLDER/cells.jsonl has a line per finished cell, and the same command resumes from it. The command repeats an invalid
run on the emulator, up to three runs in all. Each option restricts the cells, and may be repeated. With --table, the
command measures nothing and prints the table in Markdown.
"""

import argparse
import json
from itertools import product
from pathlib import Path

from benchmarks.peers import papers
from ccmatic.emulation import kinds, link, measures, run

RATES, RTTS, BUFFERS = ("24mbit", "96mbit"), ("20ms", "40ms", "100ms"), ("1/4bdp", "1bdp", "4bdp")
EMULATED = ("cubic", "bpf:cubic", "bbr", "bpf:bbr_v1")
SIMULATED = tuple(f"{kind}{name}" for name in papers.PAPERS for kind in ("", "exported "))
ATTEMPTS = 3
KEYS = ("rate", "rtt", "buffer", "sender")


def cells(given):
    """Return the keys of each cell that the options request."""
    choices = (given.rate or RATES, given.rtt or RTTS, given.buffer or BUFFERS, given.sender or (*EMULATED, *SIMULATED))
    return [dict(zip(KEYS, cell, strict=True)) for cell in product(*choices)]


def read_cells(file):
    """Return the cells in a file, by their keys."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {tuple(cell[key] for key in KEYS): cell for cell in map(json.loads, lines)}


def measure(cell, seconds):
    """Measure a cell."""
    path = link.of_texts(cell["rate"], cell["rtt"], cell["buffer"])
    if cell["sender"] in EMULATED:
        return emulated(path, cell["sender"], seconds)
    rate = path.rates[0][1]
    return papers.simulated(cell["sender"], rate, path.rtt, path.buffer, seconds, seconds / 3)


def emulated(path, name, seconds):
    """Return the measures of the first valid run, or those of the last run if none is valid."""
    for _ in range(ATTEMPTS):
        emulation = run.emulate(path, [kinds.request(name)], seconds)
        if not emulation.faults:
            break
    summary = measures.summed_up(emulation, seconds / 3)
    result = {name: summary[name] for name in ("utilisation", "lost", "packets")}
    wait = summary["queueing_delay_ms"].mean
    return result | {"queue_ms": wait, "faults": list(emulation.faults)}


def text(cell):
    """Return a cell as short text: - if the cell is missing, and ? if no run was valid."""
    if cell is None:
        return "-"
    wait = "-" if cell["queue_ms"] is None else f"{cell['queue_ms']:.0f} ms"
    return f"{100 * cell['utilisation']:.0f} %, {wait}, {cell['lost']}{' ?' if cell.get('faults') else ''}"


def table(done, given):
    """Return the table in Markdown, with a row per link and a column per sender."""
    senders = given.sender or (*EMULATED, *SIMULATED)
    lines = ["| " + " | ".join(("link", *senders)) + " |", "|---" * (1 + len(senders)) + "|"]
    for where in product(given.rate or RATES, given.rtt or RTTS, given.buffer or BUFFERS):
        row = [text(done.get((*where, sender))) for sender in senders]
        lines.append("| " + " | ".join([" ".join(where), *row]) + " |")
    return "\n".join(lines)


def main():
    """Measure the missing cells, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    for key, choices in zip(KEYS, (RATES, RTTS, BUFFERS, (*EMULATED, *SIMULATED)), strict=True):
        parser.add_argument(f"--{key}", action="append", choices=choices)
    parser.add_argument("--seconds", type=float, default=8, help="the length of each run")
    parser.add_argument("--table", action="store_true", help="only print the table")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    file = given.folder / "cells.jsonl"
    done = read_cells(file)
    for cell in [] if given.table else cells(given):
        if tuple(cell.values()) not in done:
            done[tuple(cell.values())] = cell | measure(cell, given.seconds)
            with file.open("a") as lines:
                lines.write(json.dumps(done[tuple(cell.values())]) + "\n")
            print(*cell.values(), text(done[tuple(cell.values())]), sep=", ", flush=True)
    print(table(done, given))


if __name__ == "__main__":
    main()
