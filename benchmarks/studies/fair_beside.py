"""Measure the share that a contract keeps beside each other controller, and the share that it leaves, in virtual time.

    python -m benchmarks.studies.fair_beside [--folder FOLDER] [--seconds SECONDS] [CONTROLLER …]

One flow runs `contract` or `contract_competing`, the other flow runs the other controller. In half of the runs the
contract starts first; in the other half it starts 2 s after the other flow. The links are those of
`benchmarks.studies.fairness` with two flows. A share is the part of the bytes that leave the link in the second half of
a run. The table has the least and the median share of each flow over all links, for each buffer.

FOLDER/fair_beside.json has the results so far. The same command resumes from them.
"""

import argparse
from pathlib import Path
from statistics import median

from benchmarks.lib import cells, pages
from benchmarks.studies.fairness import CONTROLLERS, GRID, NS
from ccmatic.judging import running, subjects

FAIR = ("contract", "contract_competing")
LINKS = [link for link in GRID if link.flows == 2]


def shares(first, second, seconds):
    """Return, for each link, the share of the flow `first` in the second half of a run; None if no byte was served."""
    found = []
    with running.Session(subjects.subject(first)) as session:
        for link in LINKS:
            packets = session.run(link.scenario(second, seconds)).packets
            left = packets["admitted"]
            late = packets[(packets["lost"] == 0) & (left >= seconds // 2 * NS) & (left < seconds * NS)]
            total = int(late["size"].sum())
            found.append(int(late["size"][late["flow"] == 0].sum()) / total if total else None)
    return found


def find(fair, other, begins, seconds):
    """Return the shares of a contract beside another controller, by link."""
    pair = (fair, other) if begins == fair else (other, fair)
    measured = shares(*pair, seconds)
    return {"kept": [each if begins == fair or each is None else 1 - each for each in measured]}


def rows(results):
    """Yield a row of the table for each pair of controllers and each buffer."""
    for fair, other in dict.fromkeys((cell["fair"], cell["other"]) for cell in results):
        for buffer in sorted({link.buffer for link in LINKS}):
            kept = [
                share
                for cell in results
                if (cell["fair"], cell["other"]) == (fair, other)
                for link, share in zip(LINKS, cell["kept"], strict=True)
                if link.buffer == buffer and share is not None
            ]
            left = [1 - share for share in kept]
            yield [fair, other, f"{buffer} BDP", *(f"{figure:.2f}" for figure in (min(kept), median(kept), min(left)))]


def main():
    """Measure the missing pairs, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", metavar="CONTROLLER", default=[*CONTROLLERS[2:]])
    parser.add_argument("--folder", type=Path, default=Path("fair_beside"))
    parser.add_argument("--seconds", type=int, default=60, help="the length of each run")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    pairs = [
        {"fair": fair, "other": other, "begins": begins, "seconds": given.seconds}
        for fair in FAIR
        for other in given.controllers
        for begins in dict.fromkeys((fair, other))
    ]
    results = cells.results(
        pairs,
        given.folder / "fair_beside.json",
        lambda cell: find(**cell),
        lambda cell: f"least share kept {min(filter(None, cell['kept']), default=0):.2f}",
    )
    head = ["controller", "beside", "buffer", "least share kept", "median share kept", "least share left"]
    print("\n".join(pages.table(head, rows(results))))


if __name__ == "__main__":
    main()
