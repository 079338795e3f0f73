"""Trained policies where a link is hundreds of times what they were trained on, beside others' senders: Table 1 and
Figures 1 to 4, in shape, of Ghermezian et al., "PPO-Driven Reinforcement Learning Congestion Control Under High-BDP
Wide-Area Deployment: A Scaling Analysis"; and what closes the gap.

    python -m benchmarks.studies.high_bdp --policies FOLDER [--seeds N] [--draw FILE]

The fluid simulator: 10 Gbit/s, R_m of 20 ms, a buffer of one BDP, for a minute; one flow, and four. Policies begin at
16 Mbit/s each, as slow as what they were trained on; those that FOLDER has not are trained first, of so many seeds (3).
CUBIC is also played where packets are lost at random, so that one flow has about the share that the paper's has; 16
such links stand for seeds.

Printed of all flows together, of each 20 ms: mean, standard deviation, 50th, 95th and 99th percentile and peak of what
was acknowledged, in Mbit/s; the share of the link that was used; mean RTT in ms; the share lost. All are means of the
seeds; of the last three the least and the most stand in brackets. Below are the paper's, where it has them.

Drawn of one flow are what is acknowledged over time and how it is distributed, and losses and RTT over time; the mean
rates beside the paper's; losses and RTT as what is trained changes."""

import argparse
from pathlib import Path

import jax
import numpy as np

from benchmarks.lib import trained
from benchmarks.studies.custard import AGENT, ENVIRONMENT
from ccmatic import traces
from ccmatic.learning import LinkOptions
from ccmatic.learning.envs.capacity import MBIT

RATE, RTT, SECONDS, FIRST = 10_000, 20, 60, 16

SENDERS = ("cubic", "bbr", "cc_qdel")

#: Packets lost at random of all that CUBIC sends there, and on how many links.
LOSS, LOSSY_LINKS = 3e-7, 16

#: Intervals that are one point of what is drawn over time.
COARSE = 20

#: Four decades of BDP: 2 KB to 25.6 MB, where Custard's are 32 to 512 KB, with buffers of 1 to 16 BDPs.
DECADES = {"rate": {"low": 1, "high": 3200, "log": True}, "buffer_bdp": {"low": 1, "high": 8, "log": True}}

SCALE_FREE = {"observe": "aurora"}

#: What is trained, by name: in what it differs from Custard's environment and agent. Each but the second one changes
#: one thing more than that before it.
TRAINED = {
    "custard": ({}, {}),
    "envelope": ({"act": "envelope:cc_qdel_wide"}, {"deviation": 1.0}),
    "scale_free": (SCALE_FREE, {}),
    "decades": ({**SCALE_FREE, **DECADES}, {}),
    "relative": ({**SCALE_FREE, **DECADES, "reward": "relative"}, {}),
    "per_rtt": ({**SCALE_FREE, **DECADES, "reward": "relative", "act": "per_rtt"}, {}),
}

#: The paper's, of the Canada-to-Cuba path, in Mbit/s: the mean, and all six where it has them.
PAPER = {
    ("cubic", 1): (4570,),
    ("cubic", 4): (9910,),
    ("bbr", 1): (8720,),
    ("bbr", 4): (9720,),
    ("custard", 1): (49.6, 90.1, 18.0, 334.2, 388.8, 438.0),
    ("custard", 4): (967,),
}


def played(who, flows, links=1, **others):
    """Of Policies or a sender by its name, for each of them and each interval: Mbit/s acknowledged, mean RTT in ms,
    share lost; and what is printed of each, as the module says. others: options of links."""
    steps = SECONDS * 1000 // RTT
    first = flows * FIRST / RATE
    asked = LinkOptions(rate=RATE, rtt=RTT, buffer_bdp=1, flows=flows, steps=steps, first=first, **others)
    now = jax.tree.map(np.float64, trained.played(who, asked, links).knowledge.now)
    acked, lost = now.acked.sum(1), now.lost.sum(1)
    rate = acked / now.seconds[:, 0] / MBIT
    rtt = np.average(now.rtt, axis=1, weights=now.acked + 1e-9) * 1000
    numbers = [rate.mean(0), rate.std(0), *np.percentile(rate, (50, 95, 99), axis=0), rate.max(0), rate.mean(0) / RATE]
    of_all = [*numbers, np.average(rtt, axis=0, weights=rate), lost.sum(0) / (acked + lost).sum(0)]
    return rate, rtt, lost / np.maximum(acked + lost, 1), np.array(of_all)


def line(name, flows, told):
    """Print what is told of a sender: (numbers, seeds)."""
    ends = zip(told.mean(1), told.min(1), told.max(1), strict=True)
    *rates, used, rtt, lost = [list(each) for each in ends]
    text = " ".join(f"{mean:8.1f}" for mean, _, _ in rates)
    text += "  {:6.1%} [{:.1%} … {:.1%}]  {:5.1f} ms [{:.1f} … {:.1f}]  {:7.3%} lost [{:.3%} … {:.3%}]".format(
        *used, *rtt, *lost
    )
    print(f"{name:>12} {flows} {text}", flush=True)
    if (name, flows) in PAPER:
        print(f"{'the paper':>14} " + " ".join(f"{value:8.1f}" for value in PAPER[name, flows]), flush=True)


def draw(figure, runs):
    """runs: of (name, flows) what was `played`."""
    (over_time, distribution, bars), (losses, rtts, changes) = figure.subplots(2, 3)
    names, shares = (*SENDERS, "custard", "envelope"), np.linspace(0, 1, 200)
    for number, name in enumerate(names):
        rate, rtt, lost, _ = runs[name, 1]
        for panel, values in ((over_time, rate), (losses, 100 * lost), (rtts, rtt)):
            mean = values.reshape(-1, COARSE, values.shape[1]).mean(1)
            lines = panel.plot(np.arange(len(mean)) * COARSE * RTT / 1000, mean, lw=0.8, color=f"C{number}")
            lines[0].set_label(name)
        distribution.plot(np.quantile(rate, shares, axis=0), shares, lw=0.8, color=f"C{number}")
        for flows, shift in ((1, 0), (4, 0.4)):
            told = runs[name, flows][-1][0]
            bars.bar(number + shift, told.mean(), 0.2, color=f"C{number}", alpha=1 - shift)
            bars.plot([number + shift] * len(told), told, "k.", ms=3)
            if (name, flows) in PAPER:
                bars.bar(number + shift + 0.2, PAPER[name, flows][0], 0.2, color="lightgray", edgecolor="gray")
    for name in TRAINED:
        *_, used, rtt, lost = runs[name, 1][-1]
        changes.scatter(rtt, 100 * lost, 100 * used + 1, alpha=0.5, label=name)
    over_time.set(xlabel="seconds", ylabel="Mbit/s", yscale="log", title="1")
    distribution.set(xlabel="Mbit/s", ylabel="share of the time", xscale="log", title="2")
    losses.set(xlabel="seconds", ylabel="lost, %", title="3")
    rtts.set(xlabel="seconds", ylabel="RTT, ms", title="3")
    bars.set(ylabel="Mbit/s; gray: the paper's", xticks=np.arange(5) + 0.3, title="4: one flow, four flows")
    bars.set_xticklabels(names, fontsize=7)
    changes.set(xlabel="RTT, ms", ylabel="lost, %", title="each seed; area: share of the link")
    changes.set_yscale("symlog", linthresh=0.1)
    changes.set_ylim(-0.02, 100)
    for panel in (over_time, changes):
        panel.legend(fontsize=6)


def main():
    """Train what is missing, print the table, and draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policies", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--draw", default="high_bdp.svg", metavar="FILE")
    given, runs = parser.parse_args(), {}
    everyone = {name: name for name in SENDERS}
    for name, (environment, agent) in TRAINED.items():
        sections = {"environment": {**ENVIRONMENT, **environment}, "agent": {**AGENT, **agent}}
        everyone[name] = list(trained.train(given.policies, name, sections, range(1, given.seeds + 1)))
    for name, who in everyone.items():
        for flows in (1, 4):
            runs[name, flows] = played(who, flows)
            line(name, flows, runs[name, flows][-1])
    for flows in (1, 4):
        line("lossy cubic", flows, played("cubic", flows, LOSSY_LINKS, loss=LOSS)[-1])
    with traces.figure(given.draw, (11, 6)) as figure:
        draw(figure, runs)


if __name__ == "__main__":
    main()
