"""Measure the share that a contract keeps beside each other controller, and the share that it leaves, in virtual time.

    python -m benchmarks.studies.fair_beside [CONTROLLER …] [--folder FOLDER] [--seconds SECONDS] [--buffers BDP …]
                                             [--apart SECONDS …]

One flow runs `contract` or `contract_competing`, the other flow runs the other controller. In half of the runs the
contract starts first; in the other half it starts after the other flow. The links are those of
`benchmarks.studies.fairness` with two flows, with each of the buffers. Each link has a run for each time between the
starts of the flows. A share is the part of the bytes that leave the link in the second half of a run. The table has the
least and the median share that the contract keeps, and the least share that it leaves, over all runs with a buffer.

FOLDER/fair_beside.json has the results so far. The same command resumes from them.
"""

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import median

from benchmarks.lib import cells, pages
from benchmarks.studies.fairness import CONTROLLERS, GRID, NS
from ccmatic.judging import running, subjects

FAIR = ("contract", "contract_competing")
LINKS = [link for link in GRID if (link.flows, link.buffer) == (2, 2)]


def shares(first, second, seconds, buffer, apart):
    """Return, for each link, the share of the flow `first` in the second half of a run; None if no byte was served."""
    found = []
    with running.Session(subjects.subject(first)) as session:
        for link in LINKS:
            packets = session.run(replace(link, buffer=buffer).scenario(second, seconds, apart)).packets
            left = packets["admitted"]
            late = packets[(packets["lost"] == 0) & (left >= seconds // 2 * NS) & (left < seconds * NS)]
            total = int(late["size"].sum())
            found.append(int(late["size"][late["flow"] == 0].sum()) / total if total else None)
    return found


def find(fair, other, begins, **run):
    """Return the shares of a contract beside another controller, by link."""
    pair = (fair, other) if begins == fair else (other, fair)
    measured = shares(*pair, **run)
    return {"kept": [each if begins == fair or each is None else 1 - each for each in measured]}


def rows(results):
    """Yield a row of the table for each pair of controllers and each buffer."""
    for fair, other, buffer in sorted({(cell["fair"], cell["other"], cell["buffer"]) for cell in results}):
        key = {"fair": fair, "other": other, "buffer": buffer}
        of = [cell["kept"] for cell in results if key.items() <= cell.items()]
        kept = [share for each in of for share in each if share is not None]
        figures = min(kept), median(kept), 1 - max(kept)
        yield [fair, other, f"{buffer} BDP", str(len(kept)), *(f"{figure:.2f}" for figure in figures)]


def main():
    """Measure the missing pairs, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=[*CONTROLLERS[2:]])
    parser.add_argument("--folder", type=Path, default=Path("fair_beside"))
    parser.add_argument("--seconds", type=int, default=60, help="the length of each run")
    parser.add_argument("--buffers", type=int, nargs="+", default=[2, 60], metavar="BDP")
    parser.add_argument("--apart", type=float, nargs="+", default=[2], help="seconds between the starts of the flows")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    pairs = [
        {"fair": fair, "other": other, "begins": begins, "seconds": given.seconds, "buffer": buffer, "apart": apart}
        for fair, other, buffer, apart in product(FAIR, given.controllers, given.buffers, given.apart)
        for begins in dict.fromkeys((fair, other))
    ]
    results = cells.results(
        pairs,
        given.folder / "fair_beside.json",
        lambda cell: find(**cell),
        lambda cell: f"least share kept {min(filter(None, cell['kept']), default=0):.2f}",
    )
    head = ["controller", "beside", "buffer", "runs", "least share kept", "median share kept", "least share left"]
    print("\n".join(pages.table(head, rows(results))))


if __name__ == "__main__":
    main()
