"""Tables of results: compute the cells that a file lacks, and store and print the edges of worst cases."""

import argparse
import json
from fractions import Fraction
from pathlib import Path

from ccmatic.answers.worst_case import UNDECIDED


def arguments(description, controllers, folder, timeout, each="question", sources=False):
    """Parse the command line (controllers, a folder and a time limit), and create the folder.

    Args:
        description: The description of the command, for its help text.
        controllers: The default controllers.
        folder: The default folder.
        timeout: The default time limit in seconds.
        each: The noun for the work to which the limit applies, for the help text.
        sources: Whether the command also takes the folder of sources.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=controllers)
    parser.add_argument("--folder", type=Path, default=Path(folder))
    parser.add_argument("--timeout", type=float, default=timeout, help=f"seconds for each {each}")
    if sources:
        parser.add_argument("--sources", type=Path, help="the folder of versions that no registry has")
    parsed = parser.parse_args()
    parsed.folder.mkdir(parents=True, exist_ok=True)
    return parsed


def results(cells, file, find, summary, settled=lambda cell: True):
    """Return all cells with their results.

    Args:
        cells: The cells without results. Each cell is a dict of its keys.
        file: The file of the results so far. The function computes, stores and prints each cell that the file lacks or
            that is not settled.
        find: A function that computes the result of a cell.
        summary: A function from a completed cell to the text to print.
        settled: A function that says whether the result of a cell in the file is final.
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
    """Return the stored form of a worst case.

    The dict has the two sides of the edge, `none` and `some`, as text or None. The dict also has the verdict and the
    time in seconds.
    """
    sides = {side: None if (x := getattr(worst, side)) is None else str(x) for side in ("none", "some")}
    return {**sides, "verdict": worst.verdict, "seconds": round(worst.seconds, 1)}


def least(worst):
    """Return the proved least share, for a worst case whose condition is "below x".

    The share is 0 if the solver decided nothing in time.
    """
    return Fraction(1) if worst.some is None and worst.verdict != UNDECIDED else worst.none or Fraction(0)


def is_decided(cell):
    """Return whether the solver decided the cell completely."""
    return cell.get("verdict") != UNDECIDED


def text(cell, beyond):
    """Return a cell in a few characters.

    Args:
        cell: A cell. A cell without an edge has a text `why`, which gives the reason. Other cells have both sides of
            the edge. The text ends with the side beyond which a trace exists.
        beyond: The sign, < or >, before this side if the cell has no other side. The sign states on which side the edge
            lies.
    """
    if "why" in cell:
        return cell["why"]
    none, some = (None if cell[side] is None else f"{float(Fraction(cell[side])):g}" for side in ("none", "some"))
    unsure = "" if is_decided(cell) else " ?"
    if none is None:
        return f"{beyond} {some}{unsure}" if some else "timed out"
    return f"{none}{unsure}" if some is None else f"{none} … {some}{unsure}"
