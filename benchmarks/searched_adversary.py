"""The same comparison in the simulator, for senders that no model has: a search in place of the solver.

    python benchmarks/searched_adversary.py FOLDER [TARGET …] [--delayed] [--seeds 0 1 2]

As `solver_adversary.py`, on the fluid simulator in which the adversaries of `cclab.py` learn: from the same step of the
worst trace of each, all traces are tried whose rate in each of the next eight R_m is as low as the budget leaves, as
high, or as before, 6561 in all. That is a search, which bounds nothing. Prints the table.
"""

import argparse
from itertools import product
from pathlib import Path
from statistics import mean
from time import monotonic

import jax
import jax.numpy as jnp
import numpy as np
from cclab import LINKS, named, trained_against
from scipy.optimize import differential_evolution
from solver_adversary import BEGIN, GENERATIONS, POPULATION, RANDOM, STEPS

from ccmatic import adversary

TARGETS = ("cubic", "aurora", "vegas", "bbr", "lp", "cc_qdel", "cc_probe_slow")
LOW, HIGH = 1.0, 96.0


def smoothed(before, wanted):
    """Rates, (n, steps) Mbit/s, as near to those wanted as the budget leaves after the rates before. wanted: such
    rates, or NaN where the rate stays."""
    rates = np.tile(before[-LINKS["window"] - 1 :], (len(wanted), 1))
    for want in wanted.T:
        spent = np.abs(np.diff(rates[:, -LINKS["window"] :], axis=1)).sum(1)
        room, last = np.maximum(0, LINKS["window"] * LINKS["budget"] - spent), rates[:, -1]
        rates = np.column_stack([rates, np.clip(np.where(np.isnan(want), last, want), last - room, last + room)])
    return rates[:, -wanted.shape[1] :]


def outcomes(name, asked, before):
    """The function from rates, (n, steps) Mbit/s, that follow on those before, (steps), to the share of the link that
    the sender of a name then uses, (n), and to the mean delay of what it hears of, (n) seconds."""
    attack, _ = adversary.along(name, asked, before[:, None])

    def interval(state, rate):
        start = state.interval
        state, _, served = attack.watched(state, attack.wanting(rate)[None, None])
        now = state.target.known.now
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

    return of


def compared(trained, step, delayed):
    """What each way of choosing rates reaches from a step of an adversary's trace: shares of the link, in percent."""
    trace, _ = trained.trace()
    before, asked = trace[:step], trained.attack.asked
    of, rng = outcomes(trained.attack.target.name, asked, before), np.random.default_rng(step)
    used, delays = of(smoothed(before, rng.uniform(LOW, HIGH, (RANDOM, STEPS))))
    least = delays.mean() if delayed else 0

    def cost(genes):
        used, delays = of(smoothed(before, LOW + genes.T * (HIGH - LOW)))
        return used + 2 * np.maximum(0, least - delays) / max(least, 1e-9)

    begin = monotonic()
    asking = {"popsize": POPULATION, "maxiter": GENERATIONS, "tol": 0, "polish": False, "seed": 0}
    found = differential_evolution(cost, [(0, 1)] * STEPS, vectorized=True, updating="deferred", **asking)
    halfway = monotonic()
    every = smoothed(before, np.array([*product((LOW, np.nan, HIGH), repeat=STEPS)]))
    searched = least_used(*of(every), least)
    seconds = halfway - begin, monotonic() - halfway
    best = least_used(*of(smoothed(before, LOW + found.x[None] * (HIGH - LOW))), least)
    learned = least_used(*of(trace[None, step : step + STEPS]), least)
    return [100 * used.mean(), best, learned, searched], seconds


def least_used(used, delays, least):
    """In percent, of those that delay so long at least; NaN where none does."""
    return 100 * min(used[delays >= least], default=np.nan)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("targets", nargs="*", metavar="TARGET", default=TARGETS)
    parser.add_argument("--delayed", action="store_true", help="of traces that delay as random ones do, at least")
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    asked = parser.parse_args()
    print("| sender | random | genetic | learned | searched | seconds: genetic | searched |\n" + "|---" * 7 + "|")
    for target in asked.targets:
        adversaries = trained_against(target, asked.folder, asked.seeds)
        every = [compared(each, BEGIN, asked.delayed) for each in adversaries]
        columns = [np.nanmean(column) for column in zip(*(shares for shares, _ in every), strict=True)]
        seconds = [mean(column) for column in zip(*(seconds for _, seconds in every), strict=True)]
        told = " | ".join(f"{value:.1f}" for value in (*columns, *seconds))
        print(f"| {named(target)} | {told} |", flush=True)


if __name__ == "__main__":
    main()
