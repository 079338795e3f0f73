"""Reproduce CCLab's Tables I, II and VI to VIII: adversaries or noise falsify the smallest RTT that senders measure.

    python -m benchmarks.studies.cclab_features FOLDER [--targets vegas bbr_v1 policy:FILE …] [--within 0.05 0.5]
        [--seeds 0 1 2] [--traces TRACE …]

The command trains an adversary against each target for each bound and seed, unless FOLDER has this adversary. The
command prints the used share of the link, and the mean and the 95th percentile of the queueing delay, on 30 random
links with buffers of 2 BDPs. Each value has its mean, minimum and maximum over the seeds. There are three settings:

- the sender alone;
- the sender with its adversaries, except adversaries that cause less delay than the sender has alone;
- with noise of the same size.

With mahimahi link traces, the command repeats this from 30 random places in these traces, with the same adversaries.
For senders in the paper, it also prints the paper's values.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from benchmarks.lib.trained import START, train
from benchmarks.studies.cclab import named, spread
from ccmatic.learning import adversaries

TARGETS = ("vegas", "bbr_v1")

LINKS = {"links": "smooth", "budget": 2, "window": 10, "buffer_bdp": 2, "interval": "1/4", "steps": 400, **START}
AGENT = {"layers": [32, 16], "gamma": 0.987, "parallel": 128, "episodes": 5, "epochs": 2, "batches": 2,
         "learning_rate": 0.003, "deviation": 0.2}  # fmt: skip

#: The cost of an interval without delay. This cost is higher than the gain from any lower use of the link.
PENALTY = 10

#: The paper's utilisation in %, and the paper's mean and 95th percentile of the queueing delay in ms. CLEAN has these
#: values for the sender alone, by (links, sender). HARMED has them with an adversary, by (links, within, sender). NOISE
#: has them with noise, whose size the paper does not state.
CLEAN = {
    ("random", "orca"): (81.36, 4.31, 12.51),
    ("recorded", "orca"): (83.21, 29.41, 81.67),
    ("random", "vegas"): (70.94, 2.91, 6.45),
    ("random", "bbr_v1"): (81.46, 6.04, 22.17),
    ("recorded", "vegas"): (79.98, 12.53, 34.08),
    ("recorded", "bbr_v1"): (90.09, 29.10, 82.19),
}
HARMED = {
    ("random", 0.05, "orca"): (80.48, 4.50, 19.00),
    ("random", 0.5, "orca"): (73.67, 4.23, 16.80),
    ("recorded", 0.05, "orca"): (83.17, 31.63, 87.21),
    ("recorded", 0.5, "orca"): (78.92, 29.21, 80.09),
    ("random", 0.05, "vegas"): (70.82, 2.97, 6.50),
    ("random", 0.05, "bbr_v1"): (76.94, 6.65, 26.04),
    ("random", 0.5, "vegas"): (60.33, 2.74, 4.42),
    ("random", 0.5, "bbr_v1"): (66.78, 6.25, 26.78),
    ("recorded", 0.05, "vegas"): (77.88, 12.44, 39.17),
    ("recorded", 0.05, "bbr_v1"): (85.45, 29.16, 84.14),
    ("recorded", 0.5, "vegas"): (68.53, 13.29, 38.75),
    ("recorded", 0.5, "bbr_v1"): (83.13, 30.69, 90.50),
}
NOISE = {
    ("random", "orca"): (83.75, 4.64, 13.82),
    ("recorded", "orca"): (84.51, 29.39, 81.83),
    ("random", "vegas"): (70.03, 2.98, 6.23),
    ("random", "bbr_v1"): (72.55, 5.07, 17.49),
    ("recorded", "vegas"): (75.27, 11.68, 31.67),
    ("recorded", "bbr_v1"): (81.03, 16.31, 49.37),
}


def main():
    """Print the tables, each row as soon as it is complete."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--targets", nargs="+", default=TARGETS)
    parser.add_argument("--within", type=float, nargs="+", default=(0.05, 0.5))
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--traces", nargs="+", default=(), metavar="TRACE")
    given = parser.parse_args()
    links = {"random": LINKS}
    if given.traces:
        links["recorded"] = {**LINKS, "links": {f"mahimahi:{file}": 1 / len(given.traces) for file in given.traces}}
    print("links     sender         least RTT    used, %               delay, ms             p95, ms")
    for target in given.targets:
        alone = {}
        for within in given.within:
            options = {"target": target, "level": "feature", "within": within, "penalty": PENALTY}
            trained = adversaries_of(given, options)
            for name, link_options in links.items():
                attack = adversaries.make_attack(options, link_options)
                if name not in alone:
                    alone[name] = adversaries.baseline(attack)
                rows(name, within, attack, alone[name], trained, given.seeds)


def adversaries_of(given, options):
    """Return the adversaries of all seeds."""
    name = f"{named(options['target'])}_{100 * options['within']:g}"
    sections = {"environment": LINKS, "adversary": options, "agent": AGENT}
    return list(train(given.folder, name, sections, given.seeds, adversaries.load))


def rows(links, within, attack, alone, trained, seeds):
    """Print a target's measures on the named links: alone (already measured), with adversaries, and with noise."""

    def noise(state, observation, key):
        return adversaries.anything(key, len(observation))

    sender = named(attack.target.name)
    about = f"{links:<9} {sender:<14}"
    harmed = [replace(adversary, attack=attack).played() for adversary in trained]
    noisy = [adversaries.play(attack, noise, attack.runs, seed) for seed in seeds]
    kept = [adversary for adversary in harmed if adversary.delay.mean() >= alone.delay.mean()]
    print(f"{about} right      {columns_text([alone], CLEAN.get((links, sender)))}")
    few = f"   {len(kept)} of {len(harmed)} delay as much as alone" if len(kept) < len(harmed) else ""
    print(f"{about} ±{within:<4.0%} worst {columns_text(kept, HARMED.get((links, within, sender)))}{few}")
    print(f"{about} ±{within:<4.0%} noise {columns_text(noisy, NOISE.get((links, sender)))}", flush=True)


def columns_text(played, paper):
    """Return text for each EpisodeResults: its means over links, with minimum and maximum, and the paper's values."""
    columns = [
        (100 * episodes.used.mean(), 1000 * episodes.delay.mean(), 1000 * episodes.p95.mean()) for episodes in played
    ]
    return "  ".join(map(spread, zip(*columns, strict=True))) + (
        f"   paper: {', '.join(map(str, paper))}" if paper else ""
    )


if __name__ == "__main__":
    main()
