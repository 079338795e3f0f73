"""Measure constructions after Orca, Aurora and Custard on ccmatic-bench-v1.

    python -m benchmarks.studies.constructions FOLDER [--names NAME …] [--seeds N] [--suites NAME …]

A construction has the observations, the action and the reward of a paper, in ccmatic's formulas, and learns on links
like those of the paper's training. It is not the authors' policy: all constructions learn by PPO, from ccmatic's
simulator. The command adds lines to FOLDER/constructions.jsonl, and prints a row of the leaderboard for each policy.
"""

import argparse
import os
from pathlib import Path

from benchmarks.lib.trained import sections_of
from benchmarks.studies import cclab, custard
from ccmatic.learning import agents, bench


def deployed(sections):
    """Return the sections of a training that begins with ten packets, as deployed senders do."""
    environment = {key: value for key, value in sections["environment"].items() if key != "first"}
    return {**sections, "environment": environment}


#: The sections of Custard's training, whose senders begin at 30 to 150 % of the link.
CUSTARD = {"environment": custard.ENVIRONMENT, "agent": custard.AGENT}

#: The sections of each construction's training. Orca multiplies CUBIC's window.
CONSTRUCTIONS = {
    "after_orca": deployed(cclab.learner("orca_cubic")),
    "after_aurora": deployed(cclab.learner("aurora")),
    "after_custard": deployed(CUSTARD),
    "after_custard_near": CUSTARD,
}


def row(player, lines):
    """Return a row of the table in docs/reports/benchmark.md."""
    cells = [
        f"{line.score:.2f} ± {line.score_ci:.2f}: {line.utilisation:.0%}, {line.queue_rtt:.2f}, {line.loss:.1%}"
        for line in lines
    ]
    return f"| `{player}` | {' | '.join(cells)} |"


def main():
    """Train the policies, and measure them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--names", nargs="+", default=CONSTRUCTIONS, choices=CONSTRUCTIONS, metavar="NAME")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--suites", nargs="*", default=[], help="the suites; all by default")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    os.chdir(given.folder)  # so that the names of players are names of files without a folder
    for name in given.names:
        query = Path(f"{name}.toml")
        query.write_text(sections_of(CONSTRUCTIONS[name]))
        for file in agents.train(query, f"{name}.json", seed=1, seeds=given.seeds):
            lines = list(bench.bench([f"policy:{file}"], given.suites, out="constructions.jsonl"))
            print(row(f"policy:{file}", lines), flush=True)


if __name__ == "__main__":
    main()
