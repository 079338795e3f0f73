"""CCLab's Table III: what adversaries that were trained against one sender do to it, and to others.

    python benchmarks/cclab.py FOLDER [--targets NAME …] [--seeds 0 1 2]

Trains an adversary against each target from each seed; those that are in FOLDER are not trained again, and one that was
cut off goes on. Prints the share of the link that is used and the mean queueing delay: on random traces, and, of each
target's adversaries, on the worst of 30 traces of each, the mean over seeds, with the least and the most. Where the
paper has the pair its values stand beside it.
"""

import argparse
from collections import defaultdict
from pathlib import Path
from statistics import mean

from trained import train

from ccmatic import adversary

TARGETS = ("cubic", "vegas", "illinois", "lp", "reno", "bbr", "cc_qdel", "cc_probe_slow")

LINKS = {"steps": 750, "budget": 2, "window": 10}
AGENT = {"layers": [32, 16], "gamma": 0.95, "parallel": 256, "episodes": 20, "rollout": 25}

#: Utilisation, % and mean queueing delay, ms, by (sender, target); no target: random traces. Its links are emulated,
#: its senders the kernel's, and its budget is not stated.
PAPER = {
    ("cubic", None): (94.50, 12.26),
    ("vegas", None): (65.16, 2.23),
    ("illinois", None): (98.69, 15.40),
    ("lp", None): (85.58, 6.77),
    ("cubic", "cubic"): (86.79, 43.91),
    ("vegas", "cubic"): (50.08, 17.23),
    ("illinois", "cubic"): (90.14, 46.07),
    ("lp", "cubic"): (80.16, 33.24),
    ("cubic", "vegas"): (75.68, 15.41),
    ("vegas", "vegas"): (48.42, 7.48),
    ("illinois", "vegas"): (80.25, 15.67),
    ("lp", "vegas"): (61.81, 13.14),
    ("cubic", "illinois"): (81.04, 19.80),
    ("vegas", "illinois"): (55.41, 10.75),
    ("illinois", "illinois"): (83.60, 20.78),
    ("lp", "illinois"): (72.82, 15.48),
    ("cubic", "lp"): (87.06, 14.16),
    ("vegas", "lp"): (54.27, 5.61),
    ("illinois", "lp"): (92.41, 17.39),
    ("lp", "lp"): (75.40, 10.26),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--targets", nargs="+", default=TARGETS)
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    asked = parser.parse_args()
    adversaries = [each for name in asked.targets for each in trained_against(name, asked.folder, asked.seeds)]
    found = defaultdict(list)
    for line in adversary.transfer(adversaries, [], asked.folder / "traces"):
        found[line.sender, line.against].append(line)
    print("sender           trace against     used, %               delay, ms             paper")
    for (sender, against), lines in found.items():
        used, delay = ([of(line) for line in lines] for of in (lambda line: 100 * line.utilisation, delay_of))
        short = sum(not line.constrained for line in lines)
        told = f"   {short} of {len(lines)} delay less than random traces" if short else ""
        paper = "  ".join(f"{value:6.2f}" for value in PAPER.get((sender, against), ()))
        print(f"{sender:<16} {against or 'random':<16}  {spread(used)}  {spread(delay)}  {paper}{told}", flush=True)


def trained_against(target, folder, seeds):
    """The Adversaries against a target."""
    name = Path(target.removeprefix("policy:")).stem
    sections = {"environment": LINKS, "adversary": {"target": target}, "agent": AGENT}
    return train(folder, name, sections, seeds, adversary.load)


def delay_of(line):
    return line.delay_ms


def spread(values):
    return f"{mean(values):6.1f} ({min(values):5.1f} … {max(values):5.1f})"


if __name__ == "__main__":
    main()
