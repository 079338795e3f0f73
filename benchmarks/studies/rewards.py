"""Judge rewards by players that cheat: which reward pays an exploit as much as good congestion control?

    python -m benchmarks.studies.rewards FOLDER [--seeds N] [--acts NAME ...] [--rewards NAME ...] [--page FILE.md]

Scripted players play on the same links by each action. The oracle knows the link's rate, and fills the link without a
queue. An idler sends at 1 to 20 % of the link's rate. An oscillator alternates between a high rate and a low rate. A
flooder sends at 2 to 160 times the link's rate. A player chooses the action that leads nearest to its rate. PPO also
plays, with fixed settings, a million intervals and three seeds. The links have 2 to 128 Mbit/s, an R_m of 8 to 128 ms,
and buffers of 1/2 to 4 BDP. Senders begin at 2 to 10 % of the link.

An outcome is bad if the player uses less than half of the link, loses more than a tenth of its bytes, or queues for
more than 2 R_m. The score of a player is its reward as a share of the oracle's margin over the idler at 5 %: 0 is the
idler, and 1 is the oracle. Each seed of PPO plays on links of its own, so its score has the margin on these links. A
reward is cheated if a player with a bad outcome has a score of at least 0.9. The oracle
has no margin if the action, such as that of an envelope, does not allow its rates. FOLDER keeps the policies and the
results. The page has the matrix, with the policies of all runs in FOLDER.
"""

import argparse
import json
from itertools import product
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.lib import cells, pages
from benchmarks.lib.trained import sections_of, together
from ccmatic.controllers import signal
from ccmatic.deployment import policies
from ccmatic.learning import Environment, LinkOptions, agents
from ccmatic.learning.envs import rollout
from ccmatic.learning.envs.particles import begin as begin_particles

REWARDS = ("custard", "power", "vivace_loss", "aurora", "orca", "relative", "ltp", "ltp_beliefs", "ltp_particles")
ACTS = ("custard", "orca", "aurora", "envelope:cc_qdel_wide", "ltp", "per_rtt", "cubic")

LINKS = {
    "rate": {"low": 2, "high": 128, "log": True},
    "rtt": {"low": 8, "high": 128, "log": True},
    "buffer_bdp": {"low": 0.5, "high": 4},
    "first": {"low": 0.02, "high": 0.1, "log": True},
    "steps": 401,
}

#: The settings of PPO, and the observations of all policies.
AGENT = {"parallel": 64, "episodes": 39, "gamma": 0.99}
OBSERVED = {"observe": "orca", "history": 4}

#: The number of links that judge a player, and the first interval that counts.
JUDGES, FROM = 64, 100

#: The players: (kind, high rate, low rate, intervals at each). Rates are multiples of the link's rate.
PLAYERS = [
    ("oracle", 1.0, 1.0, 1),
    *(("idler", share, share, 1) for share in (0.05, 0.01, 0.2)),
    *(("oscillator", *each) for each in product((0.3, 1.0, 2.0), (0.01, 0.1), (1, 2, 8))),
    *(("flooder", times, times, 1) for times in (2.0, 10.0, 160.0)),
]
KINDS = ("idler", "oscillator", "flooder")

#: The score from which a bad outcome counts as cheating.
CHEATED = 0.9


def scripted(act):
    """Return the outcomes of all players by one action, with the rewards of all formulas."""
    results = outcomes(act, PLAYERS, REWARDS)[:, :, 0]
    return {name: results[:, place].tolist() for place, name in enumerate(REWARDS)}


def margins(act, names, groups):
    """Return the rewards of the oracle and of the idler at 5 % for each reward, on groups of links like PPO's seeds."""
    results = outcomes(act, PLAYERS[:2], names, groups)[..., 0]
    return {name: results[:, place].T.tolist() for place, name in enumerate(names)}


def outcomes(act, players, names, groups=1):
    """Return the outcomes of players, in the order of `outcome`, as an array (players, rewards, groups of links, 4)."""
    environment, count = Environment(LinkOptions(**LINKS), **OBSERVED, act=act, reward="ltp_beliefs"), JUDGES * groups
    terms = [signal.load("reward", name).term for name in names]
    candidates = jnp.linspace(*environment.bounds, 65)

    def play(number, high, low, held):
        links, state = environment.reset(jax.random.key(99), count)
        particles = begin_particles(jax.random.key(98), links.rtt * links.slot)
        state = state._replace(knowledge=state.knowledge._replace(particles=particles))

        def interval(state, step):
            rate, now = links.capacity[state.interval] / links.slot, state.knowledge.now
            queue = jnp.maximum(0, now.out[0] - rate * links.rtt[0] * links.slot)
            careful = jnp.maximum(0.05 * rate, rate - queue / now.seconds[0] / 2)
            wanted = jnp.where(number == 0, careful, rate * jnp.where(step // held % 2 == 0, high, low))
            rates = jax.vmap(lambda each: environment.acted(links, state, jnp.full((count, 1), each)).rate[0])
            action = candidates[jnp.argmin(jnp.abs(jnp.log(rates(candidates) / wanted)), axis=0)]
            state, *_ = environment.step(links, state, action[:, None])
            now, rewards = state.knowledge.now, jnp.stack([state.knowledge.value(term)[0] for term in terms])
            return state, (rewards, now.acked[0], now.lost[0], now.acked[0] * now.rtt[0])

        _, seen = jax.lax.scan(interval, state, jnp.arange(LINKS["steps"]))
        rewards, acked, lost, waited = (part[FROM:].sum(0) for part in seen)
        served, least = links.capacity[FROM:].sum(0, dtype=jnp.float32), links.rtt[0] * links.slot
        queued = waited / jnp.maximum(acked, 1) / least - 1
        measures = acked / served, lost / jnp.maximum(acked + lost, 1), queued
        shares = [jnp.broadcast_to(each, rewards.shape) for each in measures]
        values = jnp.stack([rewards / (LINKS["steps"] - FROM), *shares], axis=-1)
        return values.reshape(len(names), groups, JUDGES, -1).mean(2)

    _, *columns = zip(*players, strict=True)
    return jax.jit(jax.vmap(play))(jnp.arange(len(players)), *map(jnp.array, columns))


def outcome(episode):
    """Return (mean reward, used share, lost share, mean queueing delay in R_m) from interval FROM on."""
    now = jax.tree.map(lambda part: part[FROM:, 0].astype(np.float64), episode.knowledge.now)
    served = episode.links.capacity[FROM:].astype(np.float64).sum(0)
    acked, lost = now.acked.sum(0), now.lost.sum(0)
    least = episode.links.rtt[0] * episode.links.slot
    queued = (now.acked * now.rtt).sum(0) / np.maximum(acked, 1) / least - 1
    values = episode.reward[FROM:], acked / served, lost / np.maximum(acked + lost, 1), queued
    return [float(value.mean()) for value in values]


def learned(cell, folder):
    """Return the outcomes of PPO's policies, one for each seed."""
    names = {"reward": cell["reward"], "act": cell["act"]}
    query = folder / f"{cell['reward']}-{cell['act'].replace(':', '-')}.toml"
    query.write_text(sections_of({"environment": {**LINKS, **OBSERVED, **names}, "agent": AGENT}))
    files = agents.train(query, query.with_suffix(".json"), seed=1, seeds=cell["seeds"])
    environment = Environment(LinkOptions(**LINKS), **OBSERVED, **names)
    group, results = [policies.load(file) for file in files], []
    episode = rollout(environment, together(group, environment.bounds), jax.random.key(99), JUDGES * len(group))
    for number in range(len(group)):
        ours = slice(number * JUDGES, (number + 1) * JUDGES)
        now = jax.tree.map(lambda part, ours=ours: part[..., ours], episode.knowledge.now)
        links = jax.tree.map(lambda part, ours=ours: part[..., ours] if part.ndim else part, episode.links)
        part = episode._replace(links=links, knowledge=episode.knowledge._replace(now=now))
        results.append(outcome(part._replace(reward=episode.reward[:, ours])))
    return {"ppo": results}


def bad(result):
    """Return whether an outcome is bad."""
    _, used, lost, queued = result
    return used < 0.5 or lost > 0.1 or queued > 2


def scored(result, oracle, idle):
    """Return the score of an outcome, given the rewards of the oracle and of the idler."""
    return (result[0] - idle) / abs(oracle - idle)


def rows(acts, played, trained, ends):
    """Yield the rows of the matrix. `ends` has the `margins` of each action, if PPO has played."""
    for reward, act in product(REWARDS, acts):
        players, cheaters = played[act][reward], []
        oracle, idle = players[0][0], players[1][0]
        scores = [scored(player, oracle, idle) for player in players]
        for (kind, high, low, held), score, result in zip(PLAYERS[1:], scores[1:], players[1:], strict=True):
            if bad(result):
                what = f"{high:g}·C" if high == low else f"{high:g}·C, {low:g}·C, {held} each"
                cheaters.append((score, f"{kind} ({what})", result))
        score, who, result = max(cheaters)
        policies_ = trained.get((reward, act), [])
        pairs = ends[act][reward] if policies_ else []
        ppo = [scored(result, *pair) for result, pair in zip(policies_, pairs, strict=True)]
        names = [f"**{who.split()[0]}**"] if score >= CHEATED else []
        if oracle <= idle and not names:
            names = ["**idler**" if bad(players[1]) else "no margin"]
        names += ["**PPO**"] if any(s >= CHEATED and bad(r) for s, r in zip(ppo, policies_, strict=True)) else []
        texts = [f"{score:.2f}" if abs(score) < 1000 else f"{score:.0e}" for score in ppo]
        learned_ = [f"{t}: {r[1]:.0%}, {r[2]:.1%}, {r[3]:.2f}" for t, r in zip(texts, policies_, strict=True)]
        yield [
            f"`{reward}`",
            f"`{act}`",
            f"{players[0][0]:.3g}, {players[1][0]:.3g}",
            f"{score:.2f}: {who}, uses {result[1]:.0%}, loses {result[2]:.1%}, queues {result[3]:.2f}",
            "; ".join(learned_) or "-",
            ", ".join(names) or "none",
        ]


HEAD = [
    "reward",
    "action",
    "reward of oracle, of idler",
    "score of the best bad outcome",
    "PPO, three seeds: score: use, loss, queue in R_m",
    "cheated by",
]


def main():
    """Play and train the missing cells, and print the matrix."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3, help="seeds of PPO; 0 leaves PPO out")
    parser.add_argument("--acts", nargs="+", default=ACTS, help="the actions by which PPO plays")
    parser.add_argument("--rewards", nargs="+", default=REWARDS, help="the rewards by which PPO learns")
    parser.add_argument("--page", type=Path, metavar="FILE.md", help="write the matrix into this page")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    file = given.folder / "scripted.json"
    requests, every = [{"act": act} for act in ACTS], set(REWARDS)
    found = cells.results(
        requests, file, lambda cell: scripted(cell["act"]), lambda cell: "played", lambda cell: every <= cell.keys()
    )
    played, trained, ends = {cell["act"]: cell for cell in found}, {}, {}
    if given.seeds:
        requests = [{"reward": r, "act": act, "seeds": given.seeds} for act, r in product(given.acts, given.rewards)]
        file = given.folder / "ppo.json"
        cells.results(requests, file, lambda cell: learned(cell, given.folder), lambda cell: cell["ppo"])
        kept = (cell for cell in json.loads(file.read_text()) if cell["seeds"] == given.seeds)
        trained = {(cell["reward"], cell["act"]): cell["ppo"] for cell in kept}
        names = [reward for reward in REWARDS if any(reward == other for other, _ in trained)]
        acts = [act for act in ACTS if any(act == other for _, other in trained)]
        requests = [{"act": act, "names": names, "groups": given.seeds} for act in acts]
        file = given.folder / "margins.json"
        found = cells.results(requests, file, lambda cell: margins(**cell), lambda cell: "margins")
        ends = {cell["act"]: cell for cell in found}
    lines = pages.table(HEAD, rows(ACTS, played, trained, ends))
    print(*lines, sep="\n")
    if given.page:
        pages.write(given.page, "matrix", lines)


if __name__ == "__main__":
    main()
