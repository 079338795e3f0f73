"""Compare the rewards of free, guarded and proved ReLU policies, and of the edges of the envelope.

    python -m benchmarks.studies.proved_rewards FOLDER [--seeds N]

Each seed trains two networks of 16 units by the settings of examples/provable.toml. The free network learns the reward
alone. A guard clips the free network's rates to the envelope cc_qdel_wide. The proved network also pays for rates
outside the envelope, and the command proves its two claims. All players play on the same 512 links, which no training
had. The edges always send the lowest or the highest rate of the envelope. FOLDER keeps the networks and their proofs.
"""

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.studies.provable import QUERY, measured
from ccmatic.learning import provable
from ccmatic.learning.provable import loop, network
from ccmatic.learning.provable.query import MARGIN

#: The number of links that judge a player, and their random key.
JUDGES, KEY = 512, 10**6


def rewarded(training, decide):
    """Return the mean reward of a player per interval."""
    reward, _ = jax.jit(lambda key: loop.played(training.environment, decide, key, JUDGES))(jax.random.key(KEY))
    return float(reward)


def clipped(ends, decide, bounds):
    """Return a player's rates, clipped to the envelope."""
    low, high = (jnp.where(bounds.qdel_L > 0, end[1], end[0]) for end in ends)
    return jnp.clip(decide(bounds), low, high)


def constant(rate, bounds):
    """Return the same rate for all beliefs."""
    return jnp.full_like(bounds.C_L, rate)


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    training = replace(provable.load(QUERY), rounds=1)
    guarded = training.guarded()
    ends = [[end - sign * MARGIN for end in each] for each, sign in zip(guarded.guard, (1, -1), strict=True)]
    rows = {"low edge": [rewarded(training, partial(clipped, ends, partial(constant, -np.inf)))]}
    rows["high edge"] = [rewarded(training, partial(clipped, ends, partial(constant, np.inf)))]
    worst = {}
    for seed in range(1, arguments.seeds + 1):
        weights, _ = loop.improved(training, network.begin(training.layers, seed), seed)
        free = network.rounded(weights)
        outcome = provable.train(guarded, seed, arguments.folder / f"proved_{seed}.onnx")
        players = {"free": partial(network.share, free), "proved": partial(network.share, outcome.weights)}
        players["guarded"] = partial(clipped, ends, players["free"])
        for name, decide in players.items():
            rows.setdefault(name, []).append(rewarded(training, decide))
        worst.setdefault("free", []).append(measured(free)[0])
        worst.setdefault("proved", []).append(measured(outcome.weights)[0])
        print(
            f"seed {seed}: {', '.join(f'{proof.claim} {proof.answer.value}' for proof in outcome.proofs)}", flush=True
        )
    print("| player | reward per interval | most in flight, C·step |\n|---|---|---|")
    for name, rewards in rows.items():
        flights = ", ".join(f"{each:.1f}" for each in worst.get(name, []))
        print(f"| {name} | {', '.join(f'{each:.3f}' for each in rewards)} | {flights} |")


if __name__ == "__main__":
    main()
