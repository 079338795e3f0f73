"""Reproduce Table 2 of the paper, and print the paper's figures beside ccmatic's figures.

    python -m benchmarks.peers.table2 [--jobs N] [--folder FOLDER] [QUERY …]

Each row runs `ccmatic synth` in a separate process, with a run file in the folder. The command skips finished rows, and
resumes interrupted rows. The seconds of a resumed row cover only the last run, and have the mark +. The folder's
table2.json has all figures. Seconds count from the first candidate to the last.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from ccmatic import query
from ccmatic.base import definitions


def table():
    """Return the queries of the paper's table."""
    names = definitions.shipped("examples.queries", ".toml")
    return [name for name in names if query.load(name).paper]


def row(name, folder, jobs):
    """Run a query to its end, and return ccmatic's figures and the paper's figures."""
    run_file = folder / f"{name}.db"
    resumed = run_file.exists()
    command = [sys.executable, "-c", "from ccmatic.cli import main; main()", "synth", name, "--json"]
    command += ["--jobs", str(jobs), "--run", str(run_file), "--out", str(folder / f"{name}-solutions")]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{name}: ended with {done.returncode}")
    ours = json.loads(done.stdout.splitlines()[-1])
    return {"query": name, "jobs": jobs, "resumed": resumed, "ours": ours, "paper": query.load(name).paper}


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
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path("table2"))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    results = arguments.folder / "table2.json"
    rows = json.loads(results.read_text()) if results.exists() else []
    print("| query | solutions | paper | iterations | paper | s | paper | times faster |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.queries or table():
        finished = next((row for row in rows if row["query"] == name), None)
        if finished is None:
            finished = row(name, arguments.folder, arguments.jobs)
            rows.append(finished)
            results.write_text(json.dumps(rows, indent=1))
        print(line(finished), flush=True)
    ours = sum(row["ours"]["seconds"] for row in rows)
    paper = sum(row["paper"]["seconds"] for row in rows)
    print(f"\n{len(rows)} rows: {ours:.0f} s, the paper {paper} s, {paper / ours:.0f} times faster")


if __name__ == "__main__":
    main()
