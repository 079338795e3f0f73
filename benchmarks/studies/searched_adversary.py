"""Compare three adversaries of senders that have no model for the solver: learned, searched, and a proved bound.

    python -m benchmarks.studies.searched_adversary FOLDER [TARGET …] [--delayed] [--seeds 0 1 2]

This study repeats `solver_adversary.py` in the fluid simulator, where the adversaries of `cclab.py` learn. The study
starts from the same step of each adversary's worst trace. In each of the next eight R_m, the rate is as low as the
budget allows, as high as the budget allows, or unchanged. The command tries all 6561 such traces. This search proves no
bound. Some policies scale their rate by an action within limits. For such policies, the solver proves a lower bound on
the used share of the link. The bound holds for every sender of this form, regardless of the link's rates and of the
policy's network. The command prints the table.
"""

import argparse
from fractions import Fraction
from itertools import product
from pathlib import Path
from time import monotonic

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import differential_evolution

import ccmatic as cm
from benchmarks.lib import cells
from benchmarks.studies.cclab import LINKS, named, trained_against
from benchmarks.studies.solver_adversary import (
    BEGIN,
    BUDGET,
    BUFFER,
    GENERATIONS,
    MODEL,
    PACKET,
    POPULATION,
    RANDOM,
    RESOLUTION,
    STEPS,
    WINDOW,
)
from ccmatic.learning import adversaries
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.worlds.arrays import Values

TARGETS = ("cubic", "aurora", "vegas", "bbr", "lp", "cc_qdel", "cc_probe_slow")
LOW, HIGH = 1.0, 96.0

#: Actions that scale the last rate, and a controller text for all senders with such an action and at least a packet per
#: R_m.
SCALING = ("aurora", "custard", "orca")
SCALED = """
pace: rate = above(0)


def update(pace, MSS, R_m):
    pace = between(max(MSS / R_m, {low} * pace), max(MSS / R_m, {high} * pace))


def send(pace):
    return pace
"""


def smoothed(before, wanted):
    """Return the rates nearest to `wanted` that the budget allows after `before`: (n, steps) in Mbit/s.

    Args:
        before: The preceding rates.
        wanted: The requested rates. NaN keeps the rate.
    """
    rates = np.tile(before[-LINKS["window"] - 1 :], (len(wanted), 1))
    for want in wanted.T:
        spent = np.abs(np.diff(rates[:, -LINKS["window"] :], axis=1)).sum(1)
        room, last = np.maximum(0, LINKS["window"] * LINKS["budget"] - spent), rates[:, -1]
        rates = np.column_stack([rates, np.clip(np.where(np.isnan(want), last, want), last - room, last + room)])
    return rates[:, -wanted.shape[1] :]


def outcomes(name, options, before):
    """Return a function that plays rates, and the AttackState from which the function plays.

    The function plays n traces of rates, (n, steps) in Mbit/s, each after the rates `before`, (steps). For each trace,
    it returns the share of the link that the sender uses, (n), and the mean delay of acknowledged bytes in seconds,
    (n).
    """
    attack, _ = adversaries.along(name, options, before[:, None])

    def interval(state, rate):
        start = state.interval
        state, _, served = attack.watched(state, attack.wanting(rate)[None, None])
        now = state.target.knowledge.now
        waited = (now.rtt - state.links.rtt * state.links.slot)[0]
        return state, jnp.stack(
            [served[0], state.links.capacity[start, 0], now.acked[0, 0], now.acked[0, 0] * waited[0]]
        )

    _, state = attack.reset(jax.random.key(0), 1)
    state, _ = jax.jit(lambda state: jax.lax.scan(interval, state, jnp.asarray(before)))(state)
    play = jax.jit(jax.vmap(lambda rates: jax.lax.scan(interval, state, rates)[1].sum(0)))

    def of(rates):
        served, offered, acked, waited = np.asarray(play(jnp.asarray(rates, jnp.float32)), float).T
        return served / offered, waited / np.maximum(1, acked)

    return of, state


def never_below(environment, state):
    """Return a lower bound, in percent, on the link's use by any sender whose actions scale its rate in this way.

    The sender starts in a state of the attack. The bound is exact except for the rounding of bytes. The bound is NaN if
    the action does not scale the rate.
    """
    if environment.act not in SCALING:
        return np.nan
    formula = environment.formula("act")
    changes = (Values({"rate": 1.0, "action": action}).of(formula.term) for action in formula.bounds)
    low, high = (Fraction(float(change)).limit_denominator(1000) for change in changes)
    links, target, end = state.links, state.target, int(state.interval)
    most_served = round(float(HIGH * MBIT * links.slot[0]))

    def exact(bytes_):
        return Fraction(float(bytes_)) / most_served

    offered = [exact(bytes_served) for bytes_served in np.asarray(links.capacity[end - WINDOW - 1 : end, 0])]
    changed = np.cumsum([0, *np.abs(np.diff(offered))])
    given = [f"alpha == {PACKET}", f"G[1] - G[0] == {offered[-1]}", f"V[1] == {changed[-1]}"]
    given.append(f"A[1] - L[1] - S[1] == {exact(target.queues.waiting[0])}")
    given.append(f"pace_f[0][1] == {exact(target.rate[0, 0] * links.slot[0])}")
    given += [f"V[{t}] <= {max(changed[-1], changed[t - 1] + WINDOW * BUDGET)}" for t in range(2, STEPS + 2)]
    worst = cm.worst(
        SCALED.format(low=low, high=high),
        cm.Network(MODEL, BUFFER, STEPS + 2, delay="executions"),
        "S[-1] - S[1] < x * (offered[-1] - offered[1])",
        given="; ".join(given),
        resolution=RESOLUTION,
    )
    return 100 * float(cells.least(worst))


def compared(trained, step, delayed):
    """Compare several adversaries from a step of a learned adversary's trace.

    Returns:
        The used share of the link under each adversary, the proved lower bound (both in percent), and the seconds of
        each.
    """
    trace, _ = trained.trace()
    before, options = trace[:step], trained.attack.options
    of, state = outcomes(trained.attack.target.name, options, before)
    rng = np.random.default_rng(step)
    used, delays = of(smoothed(before, rng.uniform(LOW, HIGH, (RANDOM, STEPS))))
    least = delays.mean() if delayed else 0

    def cost(genes):
        used, delays = of(smoothed(before, LOW + genes.T * (HIGH - LOW)))
        return used + 2 * np.maximum(0, least - delays) / max(least, 1e-9)

    begin = monotonic()
    asking = {"popsize": POPULATION, "maxiter": GENERATIONS, "tol": 0, "polish": False, "seed": 0}
    optimum = differential_evolution(cost, [(0, 1)] * STEPS, vectorized=True, updating="deferred", **asking)
    halfway = monotonic()
    every = smoothed(before, np.array([*product((LOW, np.nan, HIGH), repeat=STEPS)]))
    searched = least_used(*of(every), least)
    seconds = halfway - begin, monotonic() - halfway
    best = least_used(*of(smoothed(before, LOW + optimum.x[None] * (HIGH - LOW))), least)
    learned = least_used(*of(trace[None, step : step + STEPS]), least)
    none = never_below(trained.attack.target.environment, state)
    return [100 * used.mean(), best, learned, searched, none], seconds


def least_used(used, delays, least):
    """Return the least used share in percent among rates with at least this delay; NaN if no rates have this delay."""
    return 100 * min(used[delays >= least], default=np.nan)


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("targets", nargs="*", metavar="TARGET", default=TARGETS)
    parser.add_argument(
        "--delayed", action="store_true", help="only count traces with at least the delay of random ones"
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    options = parser.parse_args()
    heads = ("sender", "random", "genetic", "learned", "searched", "proved", "genetic, s", "searched, s")
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|")
    for target in options.targets:
        trained = trained_against(target, options.folder, options.seeds)
        every = [compared(each, BEGIN, options.delayed) for each in trained]
        shares, seconds = (zip(*each, strict=True) for each in zip(*every, strict=True))
        row = ["-" if np.isnan(column).all() else f"{np.nanmean(column):.1f}" for column in (*shares, *seconds)]
        print(f"| {named(target)} | {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
