"""Reproduce the shapes of Custard's figures, but not their exact numbers.

    python -m benchmarks.studies.custard FIGURE --policies FOLDER [--seeds N] [--draw FILE]

The paper is Jay et al., "Internet Congestion Control via Deep Reinforcement Learning", 2018. FIGURE is 4 (histories), 5
(discounts), 6 (rate, latency, buffer), `noise` (noisy latency, section 4.1), 7 (fairness), or 8 (other rewards, on
links whose rate changes every five seconds).

The command trains missing policies by PPO, by default for 10 seeds. An interrupted training resumes. As in the paper,
the links of training have a rate of 16 or 64 Mbit/s, a latency of 16 or 64 ms, and buffers of 500 KB. Policies are
played in the fluid simulator. The command prints the mean of the seeds and, in brackets, the smallest and the largest
value of a seed.

EPISODES is the number of episodes with 256 links and 101 intervals each. This number is enough: in a training of twice
as many episodes, the mean reward of five episodes is between -20.7 and -20.1 after 26 episodes, and -21.6 at the end.
In figures 4, 5 and 8, policies that serve only for comparison train for FEWER episodes.
"""

import argparse
from pathlib import Path

import jax
import numpy as np

from benchmarks.lib import trained
from ccmatic.learning import LinkOptions
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.networks import traces

EPISODES, FEWER = 30, 20

ENVIRONMENT = {"observe": "custard", "act": "custard", "reward": "custard", "history": 10, "rate": [16, 64],
               "rtt": [16, 64], "steps": 101, **trained.START}  # fmt: skip
AGENT = {"layers": [32, 32, 32], "gamma": 0.0, "parallel": 256, "episodes": EPISODES, "deviation": 4.0}

#: The link of the evaluation, and the number of copies that are played at once. The copies differ in the first rate of
#: flows.
LINK, LINKS = {"rate": 32, "rtt": 32, "buffer": 500_000, **trained.START}, 64

#: The number of intervals of 32 ms in two minutes.
LONG = 3750


def policies(given, name="custard", environment=(), **agent):
    """Return the policies of all seeds. `environment` and `agent` override Custard's settings."""
    sections = {"environment": {**ENVIRONMENT, **dict(environment)}, "agent": {**AGENT, **agent}}
    return list(trained.train(given.policies, name, sections, range(1, given.seeds + 1)))


def later_half(episode, seeds, where=True):
    """Measure the later half of an Episode.

    Returns:
        A row for each seed, measured on separate links: used share, throughput in Mbit/s, mean RTT in ms, lost share.
    """
    half, owner = len(episode.reward) // 2, np.arange(len(episode.links.slot)) * seeds // len(episode.links.slot)
    rows = []
    for seed in range(seeds):
        here = np.flatnonzero((owner == seed) & where)
        now = jax.tree.map(lambda column: column[half:][..., here].astype(np.float64), episode.knowledge.now)  # noqa: B023
        served = episode.links.capacity[-len(now.acked) :, here].sum(dtype=np.float64)
        acked, lost = now.acked.sum(), now.lost.sum()
        throughput, rtt = acked / now.seconds[:, 0].sum() / MBIT, (now.acked * now.rtt).sum() / max(acked, 1) * 1000
        rows.append([acked / served, throughput, rtt, lost / max(acked + lost, 1)])
    return np.array(rows)


def spread(values, form):
    """Return the mean of the seeds' numbers, and in brackets the smallest and the largest number."""
    return f"{np.mean(values):{form}} [{np.min(values):{form}} to {np.max(values):{form}}]"


def line(name, rows):
    """Print a line with the mean of each measure over the seeds, and its range."""
    columns = zip(np.transpose(rows), (".3f", ".2f", ".1f", ".4f"), ("", " Mbit/s", " ms", " lost"), strict=True)
    print(f"{name:>24}  " + "  ".join(spread(values, form) + unit for values, form, unit in columns), flush=True)


def curves(given, panel, groups):
    """Draw the reward during training for each named group of policies.

    The lines are means of five episodes. The areas show the range of the seeds.
    """
    for name, group in groups.items():
        lines = [[line.reward for line in policy.file.curve[:FEWER]] for policy in group]
        smooth = np.array([np.convolve(one, np.full(5, 0.2), "valid") for one in lines])
        intervals = [line.intervals / 1e6 for line in group[0].file.curve[4:FEWER]]
        print(f"{name:>24}  reward of the last five episodes {spread(smooth[:, -1], '.1f')}", flush=True)
        panel.plot(intervals, smooth.mean(0), label=name)
        panel.fill_between(intervals, smooth.min(0), smooth.max(0), alpha=0.2)
    for value, what in ((0, "all of the link, no queue"), (-40, "nothing is sent")):
        panel.axhline(value, ls="--", lw=0.8, color="gray")
        panel.annotate(what, (0.02, value), xycoords=("axes fraction", "data"), va="bottom", fontsize=7)
    panel.set(xlabel="million intervals", ylabel="reward")
    panel.legend()


def histories(given, figure):
    """Reproduce figure 4."""
    others = {k: policies(given, f"history_{k}", {"history": k}, episodes=FEWER) for k in (1, 2, 100)}
    groups = {f"history of {k}": others.get(k) or policies(given) for k in (1, 2, 10, 100)}
    curves(given, figure.subplots(), groups)


def discounts(given, figure):
    """Reproduce figure 5."""
    groups = {"γ = 0": policies(given), "γ = 0.99": policies(given, "gamma_99", gamma=0.99, episodes=FEWER)}
    curves(given, figure.subplots(), groups)


#: The varied quantities of figure 6. Each has a unit, values, and a function that reads its value from links.
VARIED = {
    "rate": ("Mbit/s", (2, 4, 8, 16, 32, 64, 80, 128), lambda links: links.capacity[0] / links.slot / MBIT),
    "rtt": ("ms", (2, 4, 8, 16, 32, 48, 64, 80, 128), lambda links: links.slot * 1000),
    "buffer": ("bytes", (1500, 5000, 15000, 50000, 150000, 500000), lambda links: links.buffer),
}


def sweep(given, name, values, **others):
    """Print a line for each value of a varied quantity, and return the used shares of the link: (values, seeds)."""
    unit, _, read = VARIED[name]
    options = LinkOptions(**{**LINK, "steps": 400, name: list(values), **others})
    episode, used = trained.played(policies(given), options, LINKS * len(values)), []
    for value in values:
        rows = later_half(episode, given.seeds, np.isclose(read(episode.links), value, rtol=0.01))
        line(f"{name} {value} {unit}", rows)
        used.append(rows[:, 0])
    return np.array(used)


def robustness(given, figure):
    """Reproduce figure 6."""
    for panel, (name, (unit, values, _)) in zip(figure.subplots(1, 3, sharey=True), VARIED.items(), strict=True):
        _range(panel, values, sweep(given, name, values))
        panel.set(xscale="log", xlabel=f"{name}, {unit}", ylim=(0, 1.05))
    figure.supylabel("share of the link")


def _range(panel, values, shares, **style):
    """Draw the mean of the seeds and their range. `shares` has the shape (values, seeds)."""
    panel.plot(values, shares.mean(1), "o-", **style)
    panel.fill_between(values, shares.min(1), shares.max(1), alpha=0.2)


def noise(given, figure):
    """Reproduce section 4.1: latencies of 40 to 80 ms, with noise of 3 ms and without."""
    panel, latencies = figure.subplots(), (40, 48, 56, 64, 72, 80)
    for jitter in (0, 3):
        print(f"noise of {jitter} ms")
        _range(panel, latencies, sweep(given, "rtt", latencies, jitter=jitter), label=f"noise of {jitter} ms")
    panel.set(xlabel="latency, ms", ylabel="share of the link", ylim=(0, 1.05))
    panel.legend()


def fairness(given, figure):
    """Reproduce figure 7."""
    panel, counts = figure.subplots(), (2, 4, 8, 16)
    for name, group in {"trained": policies(given), "reno": "reno"}.items():
        indices = []
        for flows in counts:
            options = LinkOptions(**{**LINK, "flows": flows, "steps": LONG})
            indices.append(fair(trained.played(group, options, 8), 1 if isinstance(group, str) else given.seeds))
            print(f"{name:>24}  {flows:2} flows  Jain's index {spread(indices[-1], '.3f')}", flush=True)
        _range(panel, counts, np.array(indices), label=name)
    panel.set(xscale="log", xticks=counts, xticklabels=counts, xlabel="flows", ylabel="Jain's index", ylim=(0, 1.05))
    panel.minorticks_off()
    panel.legend()


def jain(acked):
    """Return Jain's fairness index of the flows of each link. `acked` has the shape (flows, links)."""
    return acked.sum(0) ** 2 / (len(acked) * (acked**2).sum(0))


def fair(episode, seeds):
    """Return Jain's index of the flows in the later half: for each seed, the mean over its links."""
    acked = episode.knowledge.now.acked[len(episode.reward) // 2 :].sum(0, dtype=np.float64)
    return jain(acked).reshape(seeds, -1).mean(1)


def rewards(given, figure):
    """Reproduce figure 8: throughput against latency, and against losses, for two rewards and for other senders.

    With the discount factor γ = 0, the training of seed 1 for the reward `power` ends with a lower reward than it began
    with. The reason is that this reward is a ratio, which hardly changes in one interval while the queue is long.
    """
    options = LinkOptions(**{**LINK, "links": "changing", "steps": LONG, "first": 1, "rate": {"low": 16, "high": 64}})
    groups = {
        "power": policies(given, "power", {"reward": "power"}, gamma=0.99, episodes=FEWER),
        "Vivace-loss": policies(given, "vivace_loss", {"reward": "vivace_loss"}, gamma=0.99, episodes=FEWER),
        **{name: name for name in ("reno", "bbr", "vegas", "oracle")},
    }
    panels = figure.subplots(1, 2, sharey=True)
    for name, group in groups.items():
        rows = later_half(trained.played(group, options, 8), 1 if isinstance(group, str) else given.seeds)
        line(name, rows)
        _, throughput, rtt, lost = rows.T
        vivace = throughput**0.9 - 11.35 * throughput * lost
        print(f"{'':>24}  power {spread(throughput / rtt, '.3f')}  Vivace-loss {spread(vivace, '.1f')}", flush=True)
        for panel, across in zip(panels, (rtt, 100 * lost), strict=True):
            panel.plot(across, throughput, "o", label=name)
    panels[0].set(xlabel="mean RTT, ms", ylabel="throughput, Mbit/s")
    panels[1].set(xlabel="lost, %")
    panels[1].legend()


FIGURES = {
    "4": histories, "5": discounts, "6": robustness, "noise": noise, "7": fairness, "8": rewards,
}  # fmt: skip


def main():
    """Print the numbers of a figure, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("--policies", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--draw", default="custard.svg", metavar="FILE")
    given = parser.parse_args()
    wide = {"6": 9, "8": 7}.get(given.figure, 4.5)
    with traces.figure(given.draw, (wide, 3)) as figure:
        FIGURES[given.figure](given, figure)


if __name__ == "__main__":
    main()
