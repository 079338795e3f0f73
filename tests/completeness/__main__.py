"""python -m tests.completeness: put windows of random executions to the questions, and print what refuses one."""

import argparse
import sys
from time import process_time

from .campaign import campaign
from .runs import NETWORKS


def main():
    """Returns 1 if a window is refused that nothing declared explains."""
    parser = argparse.ArgumentParser(prog="python -m tests.completeness", description=__doc__)
    parser.add_argument("--windows", type=int, default=1000, help="how many at least (1000)")
    parser.add_argument("--seed", type=int, default=0, help="of the first run (0)")
    parser.add_argument("--network", choices=[*NETWORKS], action="append", help="of this alone; may be given again")
    parser.add_argument("--formulas", type=int, default=5, help="of so many in a thousand formulas are asked, too (5)")
    parser.add_argument("--most", type=int, default=1, help="stop after so many unexplained windows (1); 0: never")
    args = parser.parse_args()
    begin = process_time()
    found = campaign(args.windows, args.seed, args.network, solved=args.formulas, stop=args.most or None)
    for line in found.table():
        print(line)
    print(f"{found.total} windows, {process_time() - begin:.1f} s of processor time")
    for each in found.unexplained[:1]:
        print(f"\nthe first of {len(found.unexplained)} unexplained, after {each.number} windows\n{each}")
    return bool(found.unexplained)


if __name__ == "__main__":
    sys.exit(main())
