"""Play policies on a link with hundreds of times the BDP of their training, and compare them with other senders.

    python -m benchmarks.studies.high_bdp --policies FOLDER [--seeds N] [--draw FILE]

The study reproduces the shape of Table 1 and Figures 1 to 4 of Ghermezian et al., "PPO-Driven Reinforcement Learning
Congestion Control Under High-BDP Wide-Area Deployment: A Scaling Analysis". The study also shows the trainings that
close the gap to other senders.

The link is fluid, with 10 Gbit/s, an R_m of 20 ms, and a buffer of one BDP. A run lasts a minute, with one flow or four
flows. Each policy starts at 16 Mbit/s, the lowest rate of its training. The command first trains missing policies, by
default for 3 seeds. The command also plays CUBIC with random losses. With the chosen share of losses, one flow gets
about the share of the link that CUBIC gets in the paper. For these runs, 16 links take the place of seeds.

The command measures the acknowledged rate of all flows together every 20 ms. The command prints the rate's mean,
standard deviation, 50th, 95th and 99th percentile and peak in Mbit/s; the used share of the link; the mean RTT in ms;
and the lost share. All values are means over the seeds. The last three values have their minimum and maximum in
brackets. The paper's values follow, if the paper has them.

For one flow, the drawing shows the acknowledged rate over time, the distribution of this rate, and losses and RTT over
time. The drawing also compares the mean rates with the paper's mean rates, and the losses and RTT of the different
trainings.
"""

import argparse
from pathlib import Path

import jax
import numpy as np

from benchmarks.lib import trained
from benchmarks.studies.custard import AGENT, ENVIRONMENT
from ccmatic.learning import LinkOptions
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.networks import traces

RATE, RTT, SECONDS, FIRST = 10_000, 20, 60, 16

SENDERS = ("cubic", "bbr", "cc_qdel")

#: The share of packets that CUBIC loses at random, and the number of links with such losses.
LOSS, LOSSY_LINKS = 3e-7, 16

#: The number of intervals per point in a drawing over time.
COARSE = 20

#: Four decades of BDP, from 2 KB to 25.6 MB, with buffers of 1 to 16 BDPs. Custard's range of BDP is 32 to 512 KB.
DECADES = {"rate": {"low": 1, "high": 3200, "log": True}, "buffer_bdp": {"low": 1, "high": 8, "log": True}}

SCALE_FREE = {"observe": "aurora"}

#: The trainings by name, each with its differences from Custard's environment and agent. Each training except the
#: second adds one change to the training before it.
TRAINED = {
    "custard": ({}, {}),
    "envelope": ({"act": "envelope:cc_qdel_wide"}, {"deviation": 1.0}),
    "scale_free": (SCALE_FREE, {}),
    "decades": ({**SCALE_FREE, **DECADES}, {}),
    "relative": ({**SCALE_FREE, **DECADES, "reward": "relative"}, {}),
    "per_rtt": ({**SCALE_FREE, **DECADES, "reward": "relative", "act": "per_rtt"}, {}),
}

#: The paper's rates on the Canada-to-Cuba path in Mbit/s: the mean, and all six numbers if the paper has them.
PAPER = {
    ("cubic", 1): (4570,),
    ("cubic", 4): (9910,),
    ("bbr", 1): (8720,),
    ("bbr", 4): (9720,),
    ("custard", 1): (49.6, 90.1, 18.0, 334.2, 388.8, 438.0),
    ("custard", 4): (967,),
}


def played(who, flows, links=1, **others):
    """Play Policies, or a sender given by its name. `others` has further options of the links.

    Returns:
        First, for each policy and interval, the acknowledged Mbit/s, the mean RTT in ms and the lost share. Second, for
        each policy, the numbers that the module's description lists.
    """
    steps = SECONDS * 1000 // RTT
    first = flows * FIRST / RATE
    options = LinkOptions(rate=RATE, rtt=RTT, buffer_bdp=1, flows=flows, steps=steps, first=first, **others)
    now = jax.tree.map(np.float64, trained.played(who, options, links).knowledge.now)
    acked, lost = now.acked.sum(1), now.lost.sum(1)
    rate = acked / now.seconds[:, 0] / MBIT
    rtt = np.average(now.rtt, axis=1, weights=now.acked + 1e-9) * 1000
    numbers = [rate.mean(0), rate.std(0), *np.percentile(rate, (50, 95, 99), axis=0), rate.max(0), rate.mean(0) / RATE]
    of_all = [*numbers, np.average(rtt, axis=0, weights=rate), lost.sum(0) / (acked + lost).sum(0)]
    return rate, rtt, lost / np.maximum(acked + lost, 1), np.array(of_all)


def line(name, flows, numbers):
    """Print the numbers of a sender, which have the shape (numbers, seeds)."""
    ends = zip(numbers.mean(1), numbers.min(1), numbers.max(1), strict=True)
    *rates, used, rtt, lost = [list(each) for each in ends]
    text = " ".join(f"{mean:8.1f}" for mean, _, _ in rates)
    text += "  {:6.1%} [{:.1%} … {:.1%}]  {:5.1f} ms [{:.1f} … {:.1f}]  {:7.3%} lost [{:.3%} … {:.3%}]".format(
        *used, *rtt, *lost
    )
    print(f"{name:>12} {flows} {text}", flush=True)
    if (name, flows) in PAPER:
        print(f"{'the paper':>14} " + " ".join(f"{value:8.1f}" for value in PAPER[name, flows]), flush=True)


def draw(figure, runs):
    """Draw the runs, given the results of `played` by (name, flows)."""
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
            rates = runs[name, flows][-1][0]
            bars.bar(number + shift, rates.mean(), 0.2, color=f"C{number}", alpha=1 - shift)
            bars.plot([number + shift] * len(rates), rates, "k.", ms=3)
            if (name, flows) in PAPER:
                bars.bar(number + shift + 0.2, PAPER[name, flows][0], 0.2, color="lightgray", edgecolor="gray")
    for name in TRAINED:
        *_, used, rtt, lost = runs[name, 1][-1]
        changes.scatter(rtt, 100 * lost, 100 * used + 1, alpha=0.5, label=name)
    over_time.set(xlabel="seconds", ylabel="Mbit/s", yscale="log", title="Figure 1: rate over time")
    distribution.set(
        xlabel="Mbit/s", ylabel="share of the time", xscale="log", title="Figure 2: distribution of the rate"
    )
    losses.set(xlabel="seconds", ylabel="lost, %", title="Figure 3: losses")
    rtts.set(xlabel="seconds", ylabel="RTT, ms", title="Figure 3: RTT")
    bars.set(ylabel="Mbit/s; gray: the paper's", xticks=np.arange(5) + 0.3, title="Figure 4: one flow, four flows")
    bars.set_xticklabels(names, fontsize=7)
    changes.set(xlabel="RTT, ms", ylabel="lost, %", title="each seed; area: share of the link")
    changes.set_yscale("symlog", linthresh=0.1)
    changes.set_ylim(-0.02, 100)
    for panel in (over_time, changes):
        panel.legend(fontsize=6)


def main():
    """Train the missing policies, print the table, and draw the figures."""
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
