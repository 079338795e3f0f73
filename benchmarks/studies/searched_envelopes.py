"""Search envelopes for one in which learning beats both edges.

    python -m benchmarks.studies.searched_envelopes FOLDER [--episodes N] [--seeds N] [--page PAGE]

An envelope allows rates from a·C_L to b·C_L while bytes certainly wait, and from c·C_L to d·C_L otherwise. PPO learns
in each envelope, with observations that include the delay and the loss. Its reward is the score, per interval:
throughput / capacity - (RTT / least RTT - 1) / 2 - 2 · loss. The links of training and of measurement are those of the
suite `constant` of ccmatic-bench-v1, but of other seeds than the benchmark. The baselines are constant actions: both
edges, and seven between them. All players play the same links, so a difference of scores is paired.

FOLDER keeps the envelopes, the policies and a row for each envelope, so the command resumes. With --page, it writes the
table into the page.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.lib import pages
from ccmatic.base import write_text
from ccmatic.deployment import policies
from ccmatic.learning import Environment, LinkOptions, agents, bench, trained

#: (a, b) and (c, d) of the envelopes.
QUEUED = [("0", "1/2"), ("0", "3/4"), ("0", "1"), ("1/4", "3/4"), ("1/2", "1")]
FREE = [("1", "3/2"), ("1", "2"), ("5/4", "2"), ("3/2", "2"), ("1", "3")]

ENVELOPE = '''"""Envelope: from {a} to {b} of C_L while bytes certainly wait, and otherwise from {c} to {d} of C_L."""


def rate(C_L, qdel_L):
    if qdel_L > 0:
        return between({a} * C_L, {b} * C_L)
    return between({c} * C_L, {d} * C_L)
'''

REWARD = '''"""The score of ccmatic-bench-v1, for one interval."""


def reward(throughput, capacity, rtt, least_rtt, loss_rate):
    return throughput / capacity - (rtt / least_rtt - 1) / 2 - 2 * loss_rate
'''

#: The constant actions. The first and the last are the edges.
CONSTANTS = np.linspace(-1, 1, 9)

#: The number of held-out links, and the seed of their key, which differs from the benchmark's and from training's.
LINKS, SEED = 64, 770_001

#: A 95 % confidence interval, in standard errors.
CONFIDENCE = 1.96


def scored(environment, decide, parameter):
    """Return the score, the used share, the queueing delay in R_m and the loss on each held-out link.

    Args:
        environment: The Environment.
        decide: A function from a parameter and observations to actions.
        parameter: An array of parameters, whose first axis is that of the result: (parameters, 4, links).
    """

    def play(one):
        links, state = environment.reset(jax.random.key(SEED), LINKS)

        def interval(carry, _):
            state, sums = carry
            state, _, _ = environment.step(links, state, decide(one, environment.observation(state)))
            now = state.knowledge.now
            return (state, sums + jnp.stack([now.acked[0], now.lost[0], now.acked[0] * now.rtt[0]])), None

        (_, sums), _ = jax.lax.scan(interval, (state, jnp.zeros((3, LINKS))), None, environment.options.steps)
        served = links.capacity.sum(0, dtype=jnp.float32)
        return _measures(*sums, served, links.rtt[0] * links.slot)

    return np.asarray(jax.jit(lambda all_: jax.lax.map(play, all_))(parameter))


def _measures(acked, lost, waited, served, least):
    used, loss = acked / served, lost / jnp.maximum(acked + lost, 1)
    queued = jnp.where(acked > 0, waited / jnp.maximum(acked, 1) / least - 1, 0)
    return jnp.stack([used - jnp.minimum(queued, 4) / 2 - 2 * loss, used, queued, loss])


def compared(name, file, folder, episodes, seeds):
    """Return the row of an envelope: the scores of constant actions, and of the policies of PPO."""
    options = bench.load().suite("constant").options
    environment = {**options, "observe": "orca", "act": f"envelope:{file}", "reward": str(folder / "score.py")}
    environment |= {"history": 4, "steps": 201}
    query = folder / f"{name}.toml"
    write_text(query, _toml(environment, {"parallel": 64, "episodes": episodes, "layers": [32, 16], "rollout": 25}))
    files = agents.train(query, folder / f"{name}.json", seeds=seeds)
    links = LinkOptions(**{**options, "steps": 400})
    fixed = Environment(links, act=f"envelope:{file}")
    constants = scored(fixed, lambda action, seen: jnp.full(seen.shape[:2], action), jnp.float32(CONSTANTS))
    learned = _learned(files, links)
    edges = max((constants[0], constants[-1]), key=lambda each: each[0].mean())
    best = max(constants, key=lambda each: each[0].mean())
    return {
        "name": name,
        "constants": [each.mean(1).tolist() for each in constants],
        "learned": [each.mean(1).tolist() for each in learned],
        "over_edges": [_paired(each[0], edges[0]) for each in learned],
        "over_constants": [_paired(each[0], best[0]) for each in learned],
    }


def _learned(files, links):
    """Return what `scored` does, for the policies in files."""
    loaded = [policies.load(file) for file in files]
    environment, _ = trained(loaded[0], links)
    layers = [
        tuple(map(np.stack, zip(*layer, strict=True))) for layer in zip(*(each.layers for each in loaded), strict=True)
    ]

    def decide(layers, seen):
        return jnp.clip(policies.outputs(layers, seen)[..., 0], -1, 1)

    return scored(environment, decide, layers)


def _paired(ours, others):
    """Return the mean difference and the half-width of its confidence interval."""
    apart = ours - others
    return [float(apart.mean()), float(CONFIDENCE * apart.std(ddof=1) / len(apart) ** 0.5)]


def _toml(environment, agent):
    def value(given):
        if isinstance(given, dict):
            return "{ " + ", ".join(f"{key} = {value(each)}" for key, each in given.items()) + " }"
        return json.dumps(given)

    parts = {"environment": environment, "agent": agent}
    return "\n".join(
        f"[{name}]\n" + "\n".join(f"{k} = {value(v)}" for k, v in part.items()) for name, part in parts.items()
    )


#: The columns of the table.
HEAD = (
    *("envelope: queued; free", "lowest rates", "highest rates", "best constant action", "PPO"),
    *("over the better edge", "over the best constant"),
)


def cells(row):
    """Return the cells of an envelope's row."""
    best = int(np.argmax([each[0] for each in row["constants"]]))
    fixed = [_cell(row["constants"][place]) for place in (0, -1, best)]
    fixed[2] += f" (action {CONSTANTS[best]:g})"
    over = [_over(row[key]) for key in ("over_edges", "over_constants")]
    return [row["name"], *fixed, "; ".join(map(_cell, row["learned"])), *over]


def _over(differences):
    return "; ".join(f"{mean:+.2f} ± {half:.2f}" for mean, half in differences)


def _advantage(row):
    """Return the mean advantage of the policies over the better edge."""
    return np.mean([mean for mean, _ in row["over_edges"]])


def _cell(measured):
    score, used, queued, loss = measured
    return f"{score:.2f}: {used:.0%}, {queued:.2f}, {loss:.1%}"


def main():
    """Compare in every envelope, and print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--episodes", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    folder = given.folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / "score.py", REWARD)
    rows = []
    for (a, b), (c, d) in product(QUEUED, FREE):
        name = "_".join(part.replace("/", "over") for part in ("env", a, b, c, d))
        kept = folder / f"{name}.row"
        if not kept.exists():
            write_text(folder / f"{name}.py", ENVELOPE.format(a=a, b=b, c=c, d=d))
            row = compared(name, folder / f"{name}.py", folder, given.episodes, given.seeds)
            write_text(kept, json.dumps({**row, "name": f"{a} … {b}; {c} … {d}"}))
        rows.append(json.loads(kept.read_text()))
        print(rows[-1]["name"], rows[-1]["over_edges"], rows[-1]["over_constants"], flush=True)
    lines = pages.table(HEAD, map(cells, sorted(rows, key=_advantage, reverse=True)))
    print("\n".join(lines))
    if given.page:
        pages.write(given.page, "envelopes", lines)


if __name__ == "__main__":
    main()
