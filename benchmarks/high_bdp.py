"""Trained policies where a link is hundreds of times what they were trained on, beside others' senders: Table 1 and
Figures 1 to 3, in shape, of Ghermezian et al., "PPO-Driven Reinforcement Learning Congestion Control Under High-BDP
Wide-Area Deployment: A Scaling Analysis".

    python benchmarks/high_bdp.py POLICY.json… [--senders NAME…] [--draw FILE]

The fluid simulator: 10 Gbit/s, R_m of 20 ms, a buffer of one BDP, for a minute; one flow, and four. Policies begin at
16 Mbit/s each, as slow as what they were trained on. Printed of all flows together, of each 20 ms: mean, standard
deviation, 50th, 95th and 99th percentile and peak of what was acknowledged, in Mbit/s; mean RTT in ms; the share lost;
the share of the link that was used. Drawn of one flow are what is acknowledged over time and how it is distributed, and
losses and RTT over time."""

import argparse

import jax
import numpy as np
import trained

from ccmatic import policies, traces
from ccmatic.learning import Asked
from ccmatic.learning.capacity import MBIT

RATE, RTT, SECONDS, FIRST = 10_000, 20, 60, 16

SENDERS = ("reno", "bbr", "cc_qdel")


def played(who, flows):
    """Of a Policy, or a sender by its name, for each interval: Mbit/s acknowledged, mean RTT in ms, share lost."""
    asked = Asked(
        rate=RATE, rtt=RTT, buffer_bdp=1, flows=flows, steps=SECONDS * 1000 // RTT, first=flows * FIRST / RATE
    )
    episode = trained.played(who if isinstance(who, str) else [who], asked, 1)
    now = jax.tree.map(lambda column: column[:, :, 0].astype(np.float64), episode.known.now)
    acked, lost = now.acked.sum(1), now.lost.sum(1)
    rtt = (now.acked * now.rtt).sum(1) / np.maximum(acked, 1) * 1000
    return acked / now.seconds[:, 0] / MBIT, rtt, lost / np.maximum(acked + lost, 1), lost.sum() / (acked + lost).sum()


def line(name, flows, found):
    """Print them."""
    rate, rtt, _, lost = found
    numbers = [rate.mean(), rate.std(), *np.percentile(rate, (50, 95, 99)), rate.max()]
    told = " ".join(f"{number:8.1f}" for number in numbers)
    mean_rtt = np.average(rtt, weights=rate)
    print(f"{name:>20} {flows} {told}  {mean_rtt:6.2f} ms  {lost:8.5f} lost  {rate.mean() / RATE:6.1%}", flush=True)


def draw(figure, runs):
    """runs: of (name, flows) what was `played`."""
    (over_time, distribution), (losses, rtts) = figure.subplots(2, 2)
    seconds = np.arange(SECONDS * 1000 // RTT) * RTT / 1000
    for (name, flows), (rate, rtt, lost, _) in runs.items():
        if flows == 1:
            over_time.plot(seconds, rate, lw=0.8, label=name)
            distribution.plot(np.sort(rate), np.linspace(0, 1, len(rate)), lw=0.8)
            losses.plot(seconds, 100 * lost, lw=0.8)
            rtts.plot(seconds, rtt, lw=0.8)
    over_time.set(ylabel="Mbit/s", yscale="log")
    distribution.set(xlabel="Mbit/s", ylabel="share of the time", xscale="log")
    losses.set(xlabel="seconds", ylabel="lost, %")
    rtts.set(xlabel="seconds", ylabel="RTT, ms")
    over_time.legend(fontsize=6)


def main():
    """Print the table, and draw the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="*")
    parser.add_argument("--senders", nargs="*", default=SENDERS)
    parser.add_argument("--draw", metavar="FILE")
    given, runs = parser.parse_args(), {}
    loaded = {policy.name: policy for policy in map(policies.load, given.policies)}
    for name, who in {**dict.fromkeys(given.senders), **loaded}.items():
        for flows in (1, 4):
            runs[name, flows] = played(who or name, flows)
            line(name, flows, runs[name, flows])
    if given.draw:
        with traces.figure(given.draw, (9, 6)) as figure:
            draw(figure, runs)


if __name__ == "__main__":
    main()
