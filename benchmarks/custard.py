"""Custard's figure 6 in shape: what share of a link trained policies use as its rate, its latency and its buffer vary.

    python benchmarks/custard.py POLICY.json…

Each point: the fluid simulator, about 64 links that differ in the rate at which the flow begins (0.3 to 1.5 of the
link's), 400 intervals of R_m, of which the first half is not measured. What does not vary is as in the paper: 32
Mbit/s, 32 ms, 500 KB, no random loss. Of several files, as of several seeds, the mean and the spread are printed."""

import sys

import jax
import numpy as np
from trained import episode

from ccmatic import policies
from ccmatic.learning import Asked
from ccmatic.learning.capacity import MBIT

LINKS, STEPS = 64, 400

#: What varies, its unit, where, and what it is on given links.
FIGURES = {
    "6a: rate": ("rate", "Mbit/s", (2, 4, 8, 16, 32, 64, 80, 128), lambda links: links.capacity[0] / links.slot / MBIT),
    "6b: latency": ("rtt", "ms", (2, 4, 8, 16, 32, 48, 64, 80, 128), lambda links: links.slot * 1000),
    "6c: buffer": ("buffer", "bytes", (1500, 5000, 15000, 50000, 150000, 500000), lambda links: links.buffer),
}


def play(policy, name, values, read):
    """(share of the link that was acknowledged, mean RTT in ms, share lost) of a policy, for each value that varies."""
    asked = Asked(**{"rate": 32, "rtt": 32, "buffer": 500_000, "steps": STEPS, name: list(values)})
    played = episode(policy, asked, LINKS * len(values))
    now = jax.tree.map(lambda column: column[STEPS // 2 :, 0].astype(np.float64), played.known.now)
    served, varied = played.links.capacity[STEPS // 2 :].astype(np.float64), np.asarray(read(played.links))
    for value in values:
        here = np.isclose(varied, value, rtol=0.01)
        acked, lost = now.acked[:, here].sum(), now.lost[:, here].sum()
        rtt = (now.acked * now.rtt)[:, here].sum() / max(acked, 1) * 1000
        yield acked / served[:, here].sum(), rtt, lost / max(acked + lost, 1)


def main():
    """Print a table for each part of the figure."""
    loaded = [policies.load(file) for file in sys.argv[1:]]
    for title, (name, unit, values, read) in FIGURES.items():
        print(f"\nFigure {title}, {len(loaded)} policies\n{unit:>8}  utilisation  spread  RTT ms    loss")
        found = np.array([list(play(policy, name, values, read)) for policy in loaded])
        for value, mean, spread in zip(values, found.mean(0), np.ptp(found, 0), strict=True):
            print(f"{value:>8}  {mean[0]:11.3f}  {spread[0]:6.3f}  {mean[1]:6.1f}  {mean[2]:6.4f}", flush=True)


if __name__ == "__main__":
    main()
