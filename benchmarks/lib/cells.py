"""Cells of a table, of which those are found that are not known yet; and those that are edges of worst cases."""

import argparse
import json
from fractions import Fraction
from pathlib import Path

from ccmatic.analysis.worst_case import UNDECIDED


def asked(description, controllers, folder, timeout):
    """What the command line asks for: controllers, a folder, which is made, and seconds for each question."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=controllers)
    parser.add_argument("--folder", type=Path, default=Path(folder))
    parser.add_argument("--timeout", type=float, default=timeout, help="seconds for each question")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    return arguments


def found(cells, file, find, told, settled=lambda cell: True):
    """Each of the cells, dicts of their keys, with what is found of it. file: what is known so far; what is not, or not
    settled, is found, added there, and told."""
    known = [cell for cell in json.loads(file.read_text()) if settled(cell)] if file.exists() else []
    every = []
    for cell in cells:
        done = next((each for each in known if cell.items() <= each.items()), None)
        if done is None:
            done = cell | find(cell)
            known.append(done)
            file.write_text(json.dumps(known, indent=0))
            print(*cell.values(), told(done), sep=", ", flush=True)
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


def told(cell, beyond):
    """A cell in a few characters: `why` it has no edge, or its sides, the one that is forced last; that one alone is
    told as what all is `beyond`, < or >."""
    if "why" in cell:
        return cell["why"]
    none, some = (None if cell[side] is None else f"{float(Fraction(cell[side])):g}" for side in ("none", "some"))
    unsure = "" if told_in_time(cell) else " ?"
    if none is None:
        return f"{beyond} {some}{unsure}" if some else "not told in time"
    return f"{none}{unsure}" if some is None else f"{none} … {some}{unsure}"
