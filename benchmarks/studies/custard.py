"""Custard's figures in shape (Jay et al., "Internet Congestion Control via Deep Reinforcement Learning", 2018).

    python -m benchmarks.studies.custard FIGURE --policies FOLDER [--seeds N] [--draw FILE]

FIGURE: 4 (histories), 5 (discounts), 6 (rate, latency, buffer), noise (of latency, section 4.1), 7 (fairness), 8
(another rate every five seconds; other rewards). Policies are trained where FOLDER has none, of so many seeds (3), by
PPO; what was cut off goes on. They are trained as in the paper on links of 16 or 64 Mbit/s and ms, with buffers of 500
KB, and played in the fluid simulator. Printed is the mean of the seeds and, in brackets, how far apart they are.

EPISODES of 256 links and 101 intervals each are as many as it takes: of a training of twice as many the mean reward of
five episodes is from -20.7 to -20.1 after 26 of them, and -21.6 at its end. Those that are only beside them, of figures
4, 5 and 8, end after FEWER."""

import argparse
from pathlib import Path

import jax
import numpy as np

from benchmarks.lib import trained
from ccmatic import traces
from ccmatic.learning import LinkOptions
from ccmatic.learning.envs.capacity import MBIT

EPISODES, FEWER = 30, 20

ENVIRONMENT = {"observe": "custard", "act": "custard", "reward": "custard", "history": 10, "rate": [16, 64],
               "rtt": [16, 64], "steps": 101}  # fmt: skip
AGENT = {"layers": [32, 32, 32], "gamma": 0.0, "parallel": 256, "episodes": EPISODES, "deviation": 4.0}

#: Links of the evaluation, and how many of them are played at once, differing in the rate at which flows begin.
LINK, LINKS = {"rate": 32, "rtt": 32, "buffer": 500_000}, 64

#: Two minutes in intervals of 32 ms.
LONG = 3750


def policies(given, name="custard", environment=(), **agent):
    """A list of the policies of all seeds that differ so from Custard's."""
    sections = {"environment": {**ENVIRONMENT, **dict(environment)}, "agent": {**AGENT, **agent}}
    return list(trained.train(given.policies, name, sections, range(1, given.seeds + 1)))


def told(episode, seeds, where=True):
    """Of the later half of an Episode, a row for each of so many seeds, on those of its links: the share of them that
    was used, throughput in Mbit/s, mean RTT in ms, share lost."""
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
    """The mean of the seeds' numbers, and how far apart they are."""
    return f"{np.mean(values):{form}} [{np.ptp(values):{form}}]"


def line(name, found):
    """Print what was `told` of each seed."""
    columns = zip(np.transpose(found), (".3f", ".2f", ".1f", ".4f"), ("", " Mbit/s", " ms", " lost"), strict=True)
    print(f"{name:>24}  " + "  ".join(spread(values, form) + unit for values, form, unit in columns), flush=True)


def curves(given, panel, groups):
    """The reward in training, of each group of policies by its name; the mean of five episodes, the seeds' range."""
    for name, group in groups.items():
        lines = [[each.reward for each in policy.file.curve[:FEWER]] for policy in group]
        smooth = np.array([np.convolve(one, np.full(5, 0.2), "valid") for one in lines])
        intervals = [each.intervals / 1e6 for each in group[0].file.curve[4:FEWER]]
        print(f"{name:>24}  reward of the last five episodes {spread(smooth[:, -1], '.1f')}", flush=True)
        panel.plot(intervals, smooth.mean(0), label=name)
        panel.fill_between(intervals, smooth.min(0), smooth.max(0), alpha=0.2)
    for value, what in ((0, "all of the link, no queue"), (-40, "nothing is sent")):
        panel.axhline(value, ls="--", lw=0.8, color="gray")
        panel.annotate(what, (0.02, value), xycoords=("axes fraction", "data"), va="bottom", fontsize=7)
    panel.set(xlabel="million intervals", ylabel="reward")
    panel.legend()


def histories(given, figure):
    """Figure 4."""
    others = {k: policies(given, f"history_{k}", {"history": k}, episodes=FEWER) for k in (1, 2, 100)}
    groups = {f"history of {k}": others.get(k) or policies(given) for k in (1, 2, 10, 100)}
    curves(given, figure.subplots(), groups)


def discounts(given, figure):
    """Figure 5."""
    groups = {"γ = 0": policies(given), "γ = 0.99": policies(given, "gamma_99", gamma=0.99, episodes=FEWER)}
    curves(given, figure.subplots(), groups)


#: What varies in figure 6, its unit, where, and what it is on given links.
VARIED = {
    "rate": ("Mbit/s", (2, 4, 8, 16, 32, 64, 80, 128), lambda links: links.capacity[0] / links.slot / MBIT),
    "rtt": ("ms", (2, 4, 8, 16, 32, 48, 64, 80, 128), lambda links: links.slot * 1000),
    "buffer": ("bytes", (1500, 5000, 15000, 50000, 150000, 500000), lambda links: links.buffer),
}


def sweep(given, name, values, **others):
    """Print a line for each value of one that varies, and return the shares of the link: (values, seeds)."""
    unit, _, read = VARIED[name]
    asked = LinkOptions(**{**LINK, "steps": 400, name: list(values), **others})
    episode, used = trained.played(policies(given), asked, LINKS * len(values)), []
    for value in values:
        found = told(episode, given.seeds, np.isclose(read(episode.links), value, rtol=0.01))
        line(f"{name} {value} {unit}", found)
        used.append(found[:, 0])
    return np.array(used)


def robustness(given, figure):
    """Figure 6."""
    for panel, (name, (unit, values, _)) in zip(figure.subplots(1, 3, sharey=True), VARIED.items(), strict=True):
        _range(panel, values, sweep(given, name, values))
        panel.set(xscale="log", xlabel=f"{name}, {unit}", ylim=(0, 1.05))
    figure.supylabel("share of the link")


def _range(panel, values, found, **style):
    """A line of the mean of seeds, and their range. found: (values, seeds)."""
    panel.plot(values, found.mean(1), "o-", **style)
    panel.fill_between(values, found.min(1), found.max(1), alpha=0.2)


def noise(given, figure):
    """Section 4.1: latencies of 40 to 80 ms, with noise of 3 ms and without."""
    panel, latencies = figure.subplots(), (40, 48, 56, 64, 72, 80)
    for jitter in (0, 3):
        print(f"noise of {jitter} ms")
        _range(panel, latencies, sweep(given, "rtt", latencies, jitter=jitter), label=f"noise of {jitter} ms")
    panel.set(xlabel="latency, ms", ylabel="share of the link", ylim=(0, 1.05))
    panel.legend()


def fairness(given, figure):
    """Figure 7."""
    panel, counts = figure.subplots(), (2, 4, 8, 16)
    for name, group in {"trained": policies(given), "reno": "reno"}.items():
        indices = []
        for flows in counts:
            asked = LinkOptions(**{**LINK, "flows": flows, "steps": LONG})
            indices.append(fair(trained.played(group, asked, 8), 1 if isinstance(group, str) else given.seeds))
            print(f"{name:>24}  {flows:2} flows  Jain's index {spread(indices[-1], '.3f')}", flush=True)
        _range(panel, counts, np.array(indices), label=name)
    panel.set(xscale="log", xticks=counts, xticklabels=counts, xlabel="flows", ylabel="Jain's index", ylim=(0, 1.05))
    panel.minorticks_off()
    panel.legend()


def jain(acked):
    """Jain's index of what the flows of each link got, (flows, links)."""
    return acked.sum(0) ** 2 / (len(acked) * (acked**2).sum(0))


def fair(episode, seeds):
    """Jain's index of what flows got in the later half: of each of so many seeds the mean of its links."""
    acked = episode.knowledge.now.acked[len(episode.reward) // 2 :].sum(0, dtype=np.float64)
    return jain(acked).reshape(seeds, -1).mean(1)


def rewards(given, figure):
    """Figure 8: throughput against latency, and against losses, of two rewards and of others' senders. With γ = 0 a
    training for power, of seed 1, ends below what it began with: a reward that is a ratio hardly changes in one
    interval where much waits."""
    asked = LinkOptions(links="changing", steps=LONG, first=1, **{**LINK, "rate": {"low": 16, "high": 64}})
    groups = {
        "power": policies(given, "power", {"reward": "power"}, gamma=0.99, episodes=FEWER),
        "Vivace-loss": policies(given, "vivace_loss", {"reward": "vivace_loss"}, gamma=0.99, episodes=FEWER),
        **{name: name for name in ("reno", "bbr", "vegas", "oracle")},
    }
    panels = figure.subplots(1, 2, sharey=True)
    for name, group in groups.items():
        found = told(trained.played(group, asked, 8), 1 if isinstance(group, str) else given.seeds)
        line(name, found)
        _, throughput, rtt, lost = found.T
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
    """Print a figure's numbers, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("--policies", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draw", default="custard.svg", metavar="FILE")
    given = parser.parse_args()
    wide = {"6": 9, "8": 7}.get(given.figure, 4.5)
    with traces.figure(given.draw, (wide, 3)) as figure:
        FIGURES[given.figure](given, figure)


if __name__ == "__main__":
    main()
