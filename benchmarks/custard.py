"""Custard's figure 6 in shape: what share of a link trained policies use as its rate, its latency and its buffer vary.

    python benchmarks/custard.py POLICY.json…

Each point: the fluid simulator, 64 links that differ in the rate at which the flow begins (0.3 to 1.5 of the link's),
400 intervals of R_m, of which the first half is not measured. What does not vary is as in the paper: 32 Mbit/s, 32 ms,
500 KB, no random loss. Of several files, as of several seeds, the mean and the spread are printed."""

import sys

import jax
import jax.numpy as jnp
import numpy as np

from ccmatic import policies
from ccmatic.learning import Asked, Environment, rollout, stateless

LINKS, STEPS = 64, 400

#: What varies, its unit, and where.
FIGURES = {
    "6a: rate": ("rate", "Mbit/s", (2, 4, 8, 16, 32, 64, 80, 128)),
    "6b: latency": ("rtt", "ms", (2, 4, 8, 16, 32, 48, 64, 80, 128)),
    "6c: buffer": ("buffer", "bytes", (1500, 5000, 15000, 50000, 150000, 500000)),
}


def play(policy, varied):
    """(share of the link that was acknowledged, mean RTT in ms, share lost) of a policy on links that vary so."""
    file = policy.file
    asked = Asked(**{"rate": 32, "rtt": 32, "buffer": 500_000, "steps": STEPS, "interval": file.interval, **varied})
    learned = {name: getattr(file, name) for name in ("observe", "act", "reward", "history", "delay")}
    environment = Environment(asked, **learned)
    act = stateless(lambda observation: jnp.clip(network(policy, observation), *environment.bounds))
    episode = rollout(environment, act, jax.random.key(1), LINKS)
    now = jax.tree.map(lambda column: column[STEPS // 2 :].astype(np.float64), episode.known.now)
    served = episode.links.capacity[STEPS // 2 * asked.slots :].sum(dtype=np.float64)
    acked, lost = now.acked.sum(), now.lost.sum()
    return acked / served, (now.acked * now.rtt).sum() / max(acked, 1) * 1000, lost / max(acked + lost, 1)


def network(policy, x):
    """The actions (n, f) for observations (n, f, numbers)."""
    for weights, bias in policy.layers[:-1]:
        x = jnp.tanh(x @ weights + bias)
    weights, bias = policy.layers[-1]
    return (x @ weights + bias)[..., 0]


def main():
    """Print a table for each part of the figure."""
    loaded = [policies.load(file) for file in sys.argv[1:]]
    for title, (name, unit, values) in FIGURES.items():
        print(f"\nFigure {title}, {len(loaded)} policies\n{unit:>8}  utilisation  spread  RTT ms    loss")
        for value in values:
            found = np.array([play(policy, {name: value}) for policy in loaded])
            share, rtt, loss = found.mean(0)
            print(f"{value:>8}  {share:11.3f}  {np.ptp(found[:, 0]):6.3f}  {rtt:6.1f}  {loss:6.4f}", flush=True)


if __name__ == "__main__":
    main()
