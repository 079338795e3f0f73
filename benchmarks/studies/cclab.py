"""Reproduce CCLab's Tables III and IV: the effect of adversaries on senders, and the smoothness of senders.

    python -m benchmarks.studies.cclab FOLDER [--targets NAME …] [--on NAME …] [--seeds 0 1 2]

The command trains an adversary against each target for each seed. If the target is a policy, the command trains the
policy first. The command skips a training whose result FOLDER has, and resumes an interrupted training. For the targets
and the senders of --on, it prints the used share of the link and the mean queueing delay. The command measures both on
random traces, and on the worst of 30 traces of each target's adversaries. Each value has its mean, minimum and maximum
over the seeds. Then the command prints two measures of a window's changes per interval, on the traces against the first
target: the mean of |change| in bytes, and the mean of log(1 + |change|). The printed values show that the paper's Eq. 9
is the mean of log(1 + |change|). A window is the rate times the latest measured RTT. If the paper has a value, the
command prints it after ccmatic's value.
"""

import argparse
from collections import defaultdict
from pathlib import Path
from statistics import mean

import jax
import numpy as np

from benchmarks.lib.trained import START, train
from ccmatic.learning import adversaries

TARGETS = ("cubic", "vegas", "illinois", "lp", "orca", "orca_cubic", "reno", "bbr", "copa_stalls", "aurora", "cc_qdel",
           "cc_probe_slow", "custard", "envelope")  # fmt: skip

LINKS = {"steps": 500, "budget": 2, "window": 10, **START}
AGENT = {"layers": [32, 16], "gamma": 0.95, "parallel": 128, "episodes": 8, "epochs": 2, "batches": 2,
         "learning_rate": 0.003}  # fmt: skip

#: Links with a fixed rate in CCLab's range, and the links of Aurora's training (section 5.1 of its paper), on which
#: Aurora's reward weighs losses.
STAYING = {"rtt": 20, "steps": 101, "rate": [2, 4, 8, 16, 32, 64, 96], "buffer": 121_250, **START}
AURORAS = {**STAYING, "rate": {"low": 1.2, "high": 6}, "buffer": {"low": 3000, "high": 1_000_000, "log": True}}

#: For each policy: the links of its training, the name of its signals and reward, its action, and its own keys of
#: [agent], such as the initial standard deviation of actions. `orca` scales the last rate. `orca_cubic` scales CUBIC's
#: window, as Orca does. `envelope` is `custard` within an envelope.
LEARNED = {
    "aurora": (AURORAS, "aurora", "aurora", {"deviation": 4.0}),
    "orca": (STAYING, "orca", "orca", {"deviation": 0.5}),
    "orca_cubic": (STAYING, "orca", "cubic", {"deviation": 0.5, "gamma": 0.9}),
    "custard": (STAYING, "custard", "custard", {"deviation": 4.0}),
    "envelope": (STAYING, "custard", "envelope:cc_qdel_wide", {"deviation": 0.4}),
}
LEARNER = {**AGENT, "gamma": 0.99, "episodes": 40}

#: The paper's utilisation in % and mean queueing delay in ms, by (sender, target). The target None stands for random
#: traces. The paper's links are emulated, its senders are the kernel's senders, and the paper does not state its
#: budget.
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
    ("orca", None): (95.58, 12.65),
    ("orca", "orca"): (85.49, 61.54),
    ("orca", "cubic"): (85.53, 72.42),
    ("orca", "vegas"): (90.88, 18.49),
    ("orca", "illinois"): (83.45, 22.41),
    ("orca", "lp"): (93.36, 17.38),
    ("cubic", "orca"): (95.37, 51.25),
    ("vegas", "orca"): (66.68, 26.25),
    ("illinois", "orca"): (95.84, 55.17),
    ("lp", "orca"): (90.52, 40.97),
}


#: The paper's mean of |change| of a window and of log(1 + |change|), on the paper's trace against Canopy.
SMOOTHNESS = {
    "orca": (6544.59, 7.13),
    "cubic": (180.13, 2.15),
    "vegas": (157.85, 2.28),
    "illinois": (951.42, 4.46),
    "lp": (900.11, 4.33),
}


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--targets", nargs="+", default=TARGETS)
    parser.add_argument("--on", nargs="+", default=(), metavar="NAME")
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    options = parser.parse_args()
    against = [trained_against(name, options.folder, options.seeds) for name in options.targets]
    lines_by_pair = defaultdict(list)
    others = [made(name, options.folder) for name in options.on]
    for line in adversaries.attack([each for group in against for each in group], others, options.folder / "traces"):
        lines_by_pair[line.sender, line.against].append(line)
    print("sender           trace against     used, %               delay, ms             paper")
    for (sender, harmed), lines in lines_by_pair.items():
        used, delay = ([of(line) for line in lines] for of in (lambda line: 100 * line.utilisation, delay_of))
        short = sum(not line.constrained for line in lines)
        note = f"   {short} of {len(lines)} delay less than random traces" if short else ""
        paper = "  ".join(f"{value:6.2f}" for value in PAPER.get((named(sender), harmed and named(harmed)), ()))
        names = f"{named(sender):<16} {named(harmed or 'random'):<16}"
        print(f"{names}  {spread(used)}  {spread(delay)}  {paper}{note}", flush=True)
    print("sender           |change| of the window, bytes, log(1 + |change|)             paper")
    rates = np.stack([each.trace()[0] for each in against[0]], axis=1)
    for each in [group[0].attack.target.name for group in against] + others:
        changes = smoothness(each, against[0][0].attack.options, rates)
        paper = "  ".join(f"{value:7.2f}" for value in SMOOTHNESS.get(named(each), ()))
        print(f"{named(each):<16} {'  '.join(map(spread, changes))}  {paper}", flush=True)


def trained_against(name, folder, seeds):
    """Return the files of adversaries of all seeds against a target."""
    target = made(name, folder)
    sections = {"environment": LINKS, "adversary": {"target": target}, "agent": AGENT}
    return list(train(folder, f"against_{name}", sections, seeds, Path))


def made(name, folder):
    """Return the name by which an attack knows a sender. If the sender is a policy, train the policy first."""
    if name not in LEARNED:
        return name
    list(train(folder, name, learner(name), [0]))
    return f"policy:{folder / name}_0.json"


def learner(name):
    """Return the sections of the training of a policy."""
    links, signals, act, own = LEARNED[name]
    environment = {**links, "observe": signals, "act": act, "reward": signals}
    return {"environment": environment, "agent": {**LEARNER, **own}}


def named(target):
    """Return the name of a target for tables."""
    return Path(target.partition(":")[2]).stem.removesuffix("_0") if target.startswith("policy:") else target


def smoothness(name, options, rates):
    """Measure a sender's window on links with the given rates, in Mbit/s, of shape (steps, n).

    Returns:
        An array (2, n) with the window's mean |change| and mean log(1 + |change|) on each link.
    """
    tried, decide = adversaries.along(name, options, rates)

    @jax.jit
    def windows():
        _, state = tried.reset(jax.random.key(0), rates.shape[1])

        def interval(state, _):
            rtt = state.target.knowledge.now.rtt_end
            state, *_ = tried.watched(state, decide(state, None, None))
            return state, (state.target.rate * rtt)[0]

        return jax.lax.scan(interval, state, None, len(rates))[1]

    changes = np.abs(np.diff(np.float64(windows()), axis=0))
    return changes.mean(0), np.log1p(changes).mean(0)


def delay_of(line):
    """Return the delay in a line, in ms."""
    return line.delay_ms


def spread(values):
    """Return the mean, the smallest and the largest of the values."""
    return f"{mean(values):6.1f} ({min(values):5.1f} … {max(values):5.1f})"


if __name__ == "__main__":
    main()
