"""Cells of a table, which are computed unless a file has them; and cells that are edges of worst cases."""

import argparse
import json
from fractions import Fraction
from pathlib import Path

from ccmatic.analysis.worst_case import UNDECIDED


def arguments(description, controllers, folder, timeout, each="question"):
    """What the command line asks for: controllers, a folder, which is made, and seconds for each question, or whatever
    else has a limit of its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=controllers)
    parser.add_argument("--folder", type=Path, default=Path(folder))
    parser.add_argument("--timeout", type=float, default=timeout, help=f"seconds for each {each}")
    parsed = parser.parse_args()
    parsed.folder.mkdir(parents=True, exist_ok=True)
    return parsed


def results(cells, file, find, summary, settled=lambda cell: True):
    """Complete cells, dicts of their keys, with their results.

    Args:
        cells: The cells.
        file: The results so far. A cell that is missing there, or not settled, is computed, added and printed.
        find: Computes the result of a cell.
        summary: The text that is printed for a completed cell.
        settled: Whether the result of a cell in the file is final.
    """
    finished = [cell for cell in json.loads(file.read_text()) if settled(cell)] if file.exists() else []
    every = []
    for cell in cells:
        done = next((result for result in finished if cell.items() <= result.items()), None)
        if done is None:
            done = cell | find(cell)
            finished.append(done)
            file.write_text(json.dumps(finished, indent=0))
            print(*cell.values(), summary(done), sep=", ", flush=True)
        every.append(done)
    return every


def edge(worst):
    """What is kept of a worst case: its sides `none` and `some`, text or None, with the verdict."""
    sides = {side: None if (x := getattr(worst, side)) is None else str(x) for side in ("none", "some")}
    return {**sides, "verdict": worst.verdict, "seconds": round(worst.seconds, 1)}


def least(worst):
    """Below which share no execution is, of a worst case whose condition is that one is below x; 0 where nothing was
    told in time."""
    return Fraction(1) if worst.some is None and worst.verdict != UNDECIDED else worst.none or Fraction(0)


def told_in_time(cell):
    """Whether what was found is all that there is."""
    return cell.get("verdict") != UNDECIDED


def text(cell, beyond):
    """A cell in a few characters: `why` it has no edge, or its sides, the one that is forced last; that one alone is
    told as what all is `beyond`, < or >."""
    if "why" in cell:
        return cell["why"]
    none, some = (None if cell[side] is None else f"{float(Fraction(cell[side])):g}" for side in ("none", "some"))
    unsure = "" if told_in_time(cell) else " ?"
    if none is None:
        return f"{beyond} {some}{unsure}" if some else "not told in time"
    return f"{none}{unsure}" if some is None else f"{none} … {some}{unsure}"
