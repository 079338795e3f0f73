"""Times every query of examples/queries, in a process of its own, beside the paper's figures.

    python benchmarks/synthesis.py [--runs N] [QUERY …]

Prints, for each: solutions and iterations, the median of the seconds, and how many times less than the paper's.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile

from ccmatic import definitions, query


def run(name):
    """The summary that `ccmatic synth --json` prints."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", "from ccmatic.cli import main; main()", "synth", name, "--json", "--out", folder]
        out = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return json.loads(out.splitlines()[-1])


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("queries", nargs="*", default=definitions.shipped("examples.queries", ".toml"))
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    print("| query | solutions | iterations | s | paper: solutions | iterations | s | times faster |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.queries:
        paper = query.load(name).paper
        runs = [run(name) for _ in range(arguments.runs)]
        seconds = statistics.median(summary["seconds"] for summary in runs)
        ours = f"{runs[0]['solutions']} | {runs[0]['iterations']} | {seconds:.1f}"
        theirs = f"{paper['solutions']} | {paper['iterations']} | {paper['seconds']}"
        print(f"| {name} | {ours} | {theirs} | {paper['seconds'] / seconds:.0f} |", flush=True)


if __name__ == "__main__":
    main()
