"""Measure a flow's beliefs beside another flow, on random fluid links where both flows send at random rates.

    python -m benchmarks.studies.beside_others [--links N] [--seeds N]

The command prints several values, with jitter and without: the number of false beliefs; C_L (the believed lower bound
on the link's rate) as a share of C; the believed upper bound on the flow's share of the link, and its true share; the
share of steps with a belief that the link serves other flows; and the share of the others' true service that these
beliefs cover.
"""

import argparse
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
from ccmatic.models.beliefs.beside_others import WINDOW

from benchmarks.lib.trained import START
from ccmatic.contracts import load_definition
from ccmatic.controllers import parse
from ccmatic.learning import Environment, LinkOptions, remembering

#: A sender that forms beliefs. Its own rate has no effect here.
LISTENER = """def send(C_L, others_L, R_m):
    return (C_L + others_L) * R_m
"""

#: The relative rounding error of floats, and the number of first steps whose beliefs are not compared.
HAIR, WARM_UP = 1e-3, 20


def played(jitter, links, seed):
    """Measure the beliefs on this many links. `jitter` is a share of R_m.

    Returns:
        An object with these attributes. `beliefs` is the number of beliefs; `false` is the number of false beliefs;
        `told` is the share of steps with a belief about others; `of_others` is the believed service of others as a
        share of their true service; `C_L` is in units of C; `believed` is the believed upper bound on the flow's own
        share; `own` is the flow's true share.
    """
    observations = load_definition("models", "MODEL", "two_flows").observations
    options = LinkOptions(rate=[8, 32], rtt=32, jitter=32 * jitter, buffer_bdp=[2, 8], flows=2, steps=100, **START)
    environment = Environment(options, act="rate")
    listener = remembering(parse(LISTENER, "listener", observations=observations), options)
    beliefs, now, capacity = _run(environment, listener, jax.random.key(seed), links)
    acked = np.cumsum(now.acked, axis=0, dtype=np.float64)
    served = (acked[WINDOW:] - acked[:-WINDOW]) / WINDOW
    others, own = served[:, ::-1], served
    least, C_L = (sum(beliefs[name])[WINDOW:] for name in ("others_L", "C_L"))  # each is a pair of floats
    late, tells = slice(WARM_UP - WINDOW, None), least[WARM_UP - WINDOW :] > 0
    return SimpleNamespace(
        beliefs=least.size + C_L.size,
        false=int((least > others * (1 + HAIR) + 1).sum() + (C_L > capacity * (1 + HAIR) + 1).sum()),
        told=tells.mean(),
        of_others=(least[late] / np.maximum(others[late], 1))[tells].mean(),
        C_L=(C_L[late] / capacity).mean(),
        believed=np.minimum(1, own[late] / C_L[late]).mean(),
        own=(own[late] / capacity).mean(),
    )


def _run(environment, listener, key, links):
    """Return the memory of each flow at each step, the measurements, and C in bytes per step."""

    @jax.jit
    def run(key):
        made, state = environment.reset(key, links)

        def interval(carry, luck):
            memory, state, rate = carry
            memory, _ = listener.act(memory, made, state, environment.observation(state))
            changes, chosen = luck
            rate = jnp.where(changes < 1 / 8, 2 * chosen * state.knowledge.capacity, rate)
            after, *_ = environment.step(made, state, rate.T)
            return (memory, after, rate), (memory[0], state.knowledge.now)

        luck = jax.random.uniform(key, (environment.options.steps, 2, *made.rtt.shape))
        _, (remembered, now) = jax.lax.scan(interval, (listener.begin(made), state, state.rate), luck)
        return remembered, now, state.knowledge.capacity * made.slot

    return jax.tree.map(np.asarray, run(key))


def main():
    """Print one line for each value of the jitter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--links", type=int, default=4096)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    for jitter in (0, 1):
        results = [vars(played(jitter, given.links, seed)) for seed in range(1, given.seeds + 1)]
        total = {name: sum(result[name] for result in results) for name in ("beliefs", "false")}
        means = {name: np.mean([result[name] for result in results]) for name in results[0] if name not in total}
        print(f"jitter of {jitter} R_m: {total['false']} of {total['beliefs']} beliefs are false; "
              f"C_L is {means['C_L']:.2f} C; own share at most {means['believed']:.2f}, and is {means['own']:.2f}; "
              f"others are told of in {means['told']:.0%} of the steps, then {means['of_others']:.0%} of what they are "
              "served", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
