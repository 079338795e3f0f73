"""Measure the speed of training: intervals per second of processor time, before and after a change.

    python -m benchmarks.timings.training [--before FOLDER] [--runs N]

A run trains by PPO with two numbers of episodes. The difference of their processor times excludes imports and
compilation. FOLDER is a checkout of an earlier version of ccmatic, which runs with this Python and its packages. Its
folder `ccmatic` needs links to the folders of definitions (`ln -s ../models`, …). Runs of both versions alternate. The
command prints the median of each version, and their ratio.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

QUERY = """\
[environment]
steps = 401
[agent]
gamma = 0.99
deviation = 4
episodes = {}
"""

#: The numbers of episodes of a run, and the intervals of an episode on 256 links.
FEW, MANY, INTERVALS = 2, 12, 256 * 401


def seconds(version, episodes):
    """Return the processor time in seconds of a training by the ccmatic in a folder."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "speed.toml").write_text(QUERY.format(episodes))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        program = [sys.executable, "-m", "ccmatic", "train", "speed.toml"]
        environment = {**os.environ, "PYTHONPATH": str(version)}
        subprocess.run(program, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def speed(version):
    """Return intervals per second of processor time."""
    return (MANY - FEW) * INTERVALS / (seconds(version, MANY) - seconds(version, FEW))


def main():
    """Print the speeds, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, metavar="FOLDER")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    versions = {"now": Path(__file__).resolve().parents[2]} | ({"before": given.before} if given.before else {})
    found = {name: [] for name in versions}
    for _ in range(given.runs):
        for name, version in versions.items():
            found[name].append(speed(version))
            print(f"{name}: {found[name][-1]:,.0f} intervals per CPU second", flush=True)
    middle = {name: median(values) for name, values in found.items()}
    print(", ".join(f"{name} {value:,.0f}" for name, value in middle.items()))
    if given.before:
        print(f"ratio {middle['now'] / middle['before']:.1f}")


if __name__ == "__main__":
    main()
