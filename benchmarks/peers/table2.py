"""Reproduce Table 2 of the paper, and print the paper's figures beside ccmatic's figures.

    python -m benchmarks.peers.table2 [--jobs N] [--folder FOLDER] [QUERY …]

Each row runs `ccmatic synth` in one separate process, with a run file in the folder. N rows run at once, and the row
that took the paper longest begins first. The command skips finished rows, and resumes interrupted rows. The seconds of
a resumed row cover only the last run, and have the mark +. The folder's table2.json has all figures. Seconds of a row
count from the first candidate to the last. The last line has the time of the whole table, with the starts of processes,
and the processor time of all processes.
"""

import argparse
import json
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from time import monotonic

from ccmatic.base import definitions
from ccmatic.questions import query


def table():
    """Return the queries of the paper's table."""
    names = definitions.shipped("examples.queries", ".toml")
    return [name for name in names if query.load(name).paper]


def row(name, folder):
    """Run a query to its end in one process, and return ccmatic's figures and the paper's figures."""
    run_file = folder / f"{name}.db"
    resumed = run_file.exists()
    command = [sys.executable, "-c", "from ccmatic.cli import main; main()", "synth", name, "--json"]
    command += ["--jobs", "1", "--run", str(run_file), "--out", str(folder / f"{name}-solutions")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{name}: ended with {done.returncode}")
    ours = json.loads(done.stdout.splitlines()[-1])
    return {"query": name, "resumed": resumed, "ours": ours, "paper": query.load(name).paper}


def complete(names, folder, jobs):
    """Run `jobs` queries at once, and yield each finished row."""
    with ThreadPoolExecutor(jobs) as threads:
        for done in as_completed([threads.submit(row, name, folder) for name in names]):
            yield done.result()


def line(row):
    """Return a row of the printed table."""
    ours, paper = row["ours"], row["paper"]
    seconds = f"{ours['seconds']:.1f}{'+' if row['resumed'] else ''}"
    ratio = f"{paper['seconds'] / ours['seconds']:.0f}"
    cells = [row["query"], ours["solutions"], paper["solutions"], ours["iterations"], paper["iterations"], seconds]
    return "| " + " | ".join(map(str, [*cells, paper["seconds"], ratio])) + " |"


def main():
    """Print the table, row by row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="*", metavar="QUERY", help="the rows; all of Table 2 by default")
    parser.add_argument("--jobs", type=int, default=2, help="the number of rows at once; 2 by default")
    parser.add_argument("--folder", type=Path, default=Path("table2"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = arguments.folder / "table2.json"
    finished = {row["query"]: row for row in json.loads(results.read_text())} if results.exists() else {}
    print("| query | solutions | paper | iterations | paper | s | paper | times faster |")
    print("|---|---|---|---|---|---|---|---|")
    names = arguments.queries or table()
    missing = sorted(set(names) - finished.keys(), key=lambda name: -query.load(name).paper["seconds"])
    begin = monotonic()
    for done in complete(missing, arguments.folder, arguments.jobs):
        finished[done["query"]] = done
        results.write_text(json.dumps(list(finished.values()), indent=1))
    seconds, children = monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    for name in names:
        print(line(finished[name]))
    ours, paper = (sum(finished[name][whose]["seconds"] for name in names) for whose in ("ours", "paper"))
    print(f"\n{len(names)} rows: {ours:.0f} s, the paper {paper} s, {paper / ours:.0f} times faster")
    print(f"{len(missing)} new rows: {seconds:.0f} s by the clock, {children.ru_utime + children.ru_stime:.0f} CPU s")


if __name__ == "__main__":
    main()
