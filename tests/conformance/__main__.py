"""Print the table of definitions and worlds: the number of outputs that were compared, or that a world refuses."""

import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from conformance.cells import KINDS
from conformance.worlds import WORLDS, Cell, Disagreement, check


def result(cell):
    """What came of the default sample of a cell, in a word or a number."""
    try:
        outcome = check(cell, 0, cell.count)
    except Disagreement:
        return "DIFFERS"
    return str(outcome) if isinstance(outcome, int) else "refused"


def main():
    """Print a table of each kind, and how far each world may be from the exact value. Returns 1 if a world differs."""
    totals, differs = defaultdict(int), False
    for kind in KINDS:
        worlds = [*kind.worlds, *kind.accepts]
        width = max(map(len, (kind.name, *kind.definitions)))
        print(f"\n{kind.name:{width}}", *(f"{world:>9}" for world in worlds))
        for definition in kind.definitions:
            results = [result(Cell(kind, definition, world)) for world in worlds]
            print(f"{definition:{width}}", *(f"{each:>9}" for each in results), flush=True)
            differs |= "DIFFERS" in results
            for world, each in zip(worlds, results, strict=True):
                totals[world] += int(each) if each.isdigit() else 0
    print("\nworld      outputs  rounding, and why")
    for name, world in WORLDS.items():
        print(f"{name:9} {totals[name]:>8}  {world.rounding}: {world.why}")
    return int(differs)


sys.exit(main())
