"""python -m tests.transitions: compare executions with transition systems and with proved claims, and print counts."""

import argparse
import sys
from pathlib import Path
from time import process_time

sys.path.insert(0, str(Path(__file__).parent.parent))  # of the simulator, as pytest has it

from transitions.campaign import campaign, claims_alone
from transitions.lines import proved_lines
from transitions.rows import ROWS


def main():
    """Return 1 if an execution has a step that a transition system lacks, or breaks a proved claim."""
    parser = argparse.ArgumentParser(prog="python -m tests.transitions", description=__doc__)
    parser.add_argument("--executions", type=int, default=10_000, help="for each row and claim (10000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first execution (0)")
    parser.add_argument("--table", help="invariants.jsonl of benchmarks.studies.invariants: compare its claims alone")
    parser.add_argument("rows", nargs="*", type=int, help="the numbers of some rows, from 0 on (all)")
    args = parser.parse_args()
    broken, known = [], proved_lines(args.table) if args.table else ROWS
    compare = claims_alone if args.table else campaign
    for row in [known[number] for number in args.rows] or known:
        begin = process_time()
        found = compare(row, args.executions, args.seed)
        print(f"{row}: {found}; {process_time() - begin:.0f} CPU s", flush=True)
        broken += found.broken
    print(*broken[:3], sep="\n")
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
