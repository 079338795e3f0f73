"""Exported controllers beside the kernel's own, and beside the pseudocode of their papers, each alone on a link.

    python -m benchmarks.peers.against_the_kernel FOLDER [--rate RATE] [--rtt RTT] [--buffer BUFFER]
                                                  [--sender NAME] [--table]

CUBIC and BBR, exported and the kernel's, are sent over the emulator, which needs root and what BPF flows need. Copa,
Vegas and Illinois, exported and as their papers have them (papers.py), are simulated packet by packet, from a window of
one BDP on. Of each: the share of the link that is used, the mean wait in the queue, and packets lost, from a third of
the run on.

FOLDER/cells.jsonl has a line for each cell that is known; the same command goes on from there. A run on the emulator
that is not valid is run again, up to three times in all. Each option restricts the cells, and may be repeated. --table
only prints the table, in Markdown.
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
    """The keys of each cell that is asked for."""
    asked = (given.rate or RATES, given.rtt or RTTS, given.buffer or BUFFERS, given.sender or (*EMULATED, *SIMULATED))
    return [dict(zip(KEYS, cell, strict=True)) for cell in product(*asked)]


def known(file):
    """The cells in a file, by their keys."""
    lines = file.read_text().splitlines() if file.exists() else []
    return {tuple(cell[key] for key in KEYS): cell for cell in map(json.loads, lines)}


def found(cell, seconds):
    """What is measured in a cell."""
    asked = link.of_texts(cell["rate"], cell["rtt"], cell["buffer"])
    if cell["sender"] in EMULATED:
        return emulated(asked, cell["sender"], seconds)
    rate = asked.rates[0][1]
    return papers.simulated(cell["sender"], rate, asked.rtt, asked.buffer, seconds, seconds / 3)


def emulated(asked, name, seconds):
    """The first valid run, or the last."""
    for _ in range(ATTEMPTS):
        emulation = run.emulate(asked, [kinds.request(name)], seconds)
        if not emulation.faults:
            break
    summary = measures.summed_up(emulation, seconds / 3)
    told = {name: summary[name] for name in ("utilisation", "lost", "packets")}
    wait = summary["queueing_delay_ms"].mean
    return told | {"queue_ms": wait, "faults": list(emulation.faults)}


def text(cell):
    """A cell in a few characters; - if it is not known, and ? after a run that was not valid."""
    if cell is None:
        return "-"
    wait = "-" if cell["queue_ms"] is None else f"{cell['queue_ms']:.0f} ms"
    return f"{100 * cell['utilisation']:.0f} %, {wait}, {cell['lost']}{' ?' if cell.get('faults') else ''}"


def table(done, given):
    """Markdown: a row for each link, a column for each sender."""
    senders = given.sender or (*EMULATED, *SIMULATED)
    lines = ["| " + " | ".join(("link", *senders)) + " |", "|---" * (1 + len(senders)) + "|"]
    for where in product(given.rate or RATES, given.rtt or RTTS, given.buffer or BUFFERS):
        row = [text(done.get((*where, sender))) for sender in senders]
        lines.append("| " + " | ".join([" ".join(where), *row]) + " |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    for key, choices in zip(KEYS, (RATES, RTTS, BUFFERS, (*EMULATED, *SIMULATED)), strict=True):
        parser.add_argument(f"--{key}", action="append", choices=choices)
    parser.add_argument("--seconds", type=float, default=8, help="of each run")
    parser.add_argument("--table", action="store_true", help="only print the table")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    file = given.folder / "cells.jsonl"
    done = known(file)
    for cell in [] if given.table else cells(given):
        if tuple(cell.values()) not in done:
            done[tuple(cell.values())] = cell | found(cell, given.seconds)
            with file.open("a") as lines:
                lines.write(json.dumps(done[tuple(cell.values())]) + "\n")
            print(*cell.values(), text(done[tuple(cell.values())]), sep=", ", flush=True)
    print(table(done, given))


if __name__ == "__main__":
    main()
