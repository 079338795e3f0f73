"""Compare policies trained with and without an envelope: average and worst measures, and broken bounds.

    python -m benchmarks.studies.envelopes FOLDER [--seeds N] [--runs N] [--policies NAME …]

The policies differ only in `act`: some act within the envelope cc_qdel_wide, others without an envelope. The command
trains missing policies, by default for 3 seeds. Two further policies always send at the lowest, or at the highest
rates of the envelope. The links of their training have a rate of 16 or 64 Mbit/s, a latency
of 16 or 64 ms, and jitter of 16 ms. A run simulates 130 steps packet by packet. The run's seed determines the link,
which is the same for each policy. The proof covers the link's buffer, and the link's rate changes twice. A step lasts
R_m plus the jitter. The envelope's proof calls this length D. There are three sorts of delays behind the bottleneck,
with 26 runs each by default:

- benign: always R_m, which is half a step;
- jitter: delays that the model allows, up to D, by the patterns of the simulator;
- counterexamples: the delays, repeated, of traces that show that a constant of the proof cannot be better.

The command counts the windows, and the windows that break a lemma of the proof. The command measures the reward, the
used share of the link, the mean queueing delay, and the lost share of each run from step FROM on. The command prints
the mean of each measure over all runs, the smallest and the largest mean of a seed in brackets, and the worst value of
a run. The command also prints these values for benign links in the fluid simulator. FOLDER/envelopes.json keeps the
results.
"""

import argparse
from collections import Counter
from fractions import Fraction
from itertools import groupby
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from benchmarks.lib import cells, counterexamples
from benchmarks.lib.trained import START, episode, train
from benchmarks.trials import Trial
from ccmatic import records
from ccmatic.controllers import signal
from ccmatic.deployment import policies
from ccmatic.learning import LinkOptions
from ccmatic.learning.envs import signals
from ccmatic.networks.trace_export import Schedule
from ccmatic.proving import load_result

PROOF = counterexamples.ROOT / "results" / "proofs" / "cc_qdel-cc_qdel_wide_T11.json"

#: The sources of the counterexamples: two proofs of the envelope.
TRACES = [f"results/proofs/{proof}-cc_qdel_wide_T11-traces/*.json" for proof in ("cc_qdel", "link_rate_large")]

LINKS = {"rate": [16, 64], "rtt": [16, 64], "buffer_bdp": 8, "interval": 2, **START}
TRAINED = {**LINKS, "observe": "custard", "reward": "custard", "history": 4, "jitter": 16, "steps": 200}
AGENT = {"layers": [32, 16], "gamma": 0.9, "parallel": 128, "episodes": 30}

#: The action of each policy, and the initial standard deviation of actions, which is the same share of each range.
ACTS = {"inside": ("envelope:cc_qdel_wide", 0.4), "outside": ("custard", 4.0)}

#: The constant action of each edge of the envelope, which is a policy without training.
EDGES = {"lowest rates": -1.0, "highest rates": 1.0}

#: The bytes of a packet and the seconds of a step for policies, and the number of packets sent in the first R_m.
PACKET, SECONDS, FIRST = 1500, 0.032, 10

#: The first step of a run that the measures include.
FROM = 20


class PolicySender:
    """A Policy as a sender of the packet simulator, whose packets have one byte each.

    The arguments of a call are the Rates that an envelope allows, and an Observation. The call returns the rate of the
    next step. A policy without an envelope ignores the Rates.
    """

    def __init__(self, policy):
        file, step = policy.file, _one(SECONDS)
        self._policy = policy
        names = {"observe": file.observe, "reward": file.reward} | ({} if policy.envelope else {"act": file.act})
        self._formulas = {kind: signal.load(kind, name) for kind, name in names.items()}
        self._memory = signal.joined(*(each.memory for each in self._formulas.values()))
        self._known = signals.first(step, step, _one(PACKET), self._memory)
        self._rate, self._before = _one(FIRST * PACKET / SECONDS), (0, 0, 0)
        self._history = np.zeros((file.history + file.delay, self._formulas["observe"].size), np.float32)
        self.rewards = []

    def __call__(self, allowed, observation):
        """Return the rate of the next step."""
        policy = self._policy
        if observation.step:
            self._learn(observation)
        seen = self._history[: policy.file.history].reshape(-1)
        action = float(np.clip(policies.outputs(policy.layers, seen)[0], *policy.bounds))
        if policy.envelope:
            return allowed.low + (allowed.high - allowed.low) * (Fraction(action) + 1) / 2
        knowledge = self._known._replace(action=_one(action))
        self._rate = jnp.maximum(knowledge.value(self._formulas["act"].term, rate=self._rate), PACKET / SECONDS)
        return Fraction(float(self._rate[0, 0]) * SECONDS / PACKET)

    def _learn(self, observation):
        """Compute the policy's measurements from packets in the same way as ccmatic.learning."""
        counts, last = (observation.sent, observation.delivered, observation.lost), self._known.now
        sent, acked, lost = (_one(PACKET * (new - old)) for new, old in zip(counts, self._before, strict=True))
        self._before = counts
        end = _one(float(observation.delay) * SECONDS) if acked else last.rtt_end
        rtt = (last.rtt_end + end) / 2 if acked else last.rtt
        self._known = self._known.after(
            signals.Interval(_one(SECONDS), sent, acked, lost, rtt, end, last.out + sent - acked - lost), self._memory
        )
        reward = self._known.value(self._formulas["reward"].term)
        self.rewards.append(float(reward[0, 0]))
        vector = np.float32(self._known.value(self._formulas["observe"].term, reward=reward)).reshape(1, -1)
        self._history = np.concatenate([self._history[1:], vector])


def _one(value):
    return np.full((1, 1), value, np.float32)


def benign(rng, bound, step):
    """Delay each byte by R_m, which is half a step, without further jitter."""
    return lambda now: now + step // 2


def as_in(schedule):
    """Return a jitter pattern that repeats the delays of a Schedule. Each delay is limited to one step."""
    instants, *curves = np.array(schedule.points, float).T
    now = np.arange(0, schedule.duration, schedule.step / 64)
    admitted, served = (np.interp(now, instants, curve) for curve in curves)
    return counterexamples.holding(counterexamples.held(now, admitted, served, schedule.duration, schedule.step), 64)


def counted(result, policy, jitters):
    """Simulate runs of a Policy with seeds 0, 1 …: one run per jitter.

    Returns:
        The Trial of the proof's Result, and the measures of each run, as the function `got` returns them.
    """
    senders = []

    def choose(*_):
        senders.append(PolicySender(policy))
        return senders[-1]

    trial = Trial(result, choose)
    runs = [trial.run(seed, jitter) for seed, jitter in enumerate(jitters)]
    return trial, [got(run, sender) for run, sender in zip(runs, senders, strict=True)]


def got(run, sender):
    """Return (mean reward, share of the link, mean queueing delay in ms, lost share) of a run from step FROM on."""
    served = run.samples["S"]
    capacity = sum(run.path_within(step, step).bdp for step in range(FROM, run.steps))
    share = float(served[-1] - served[FROM]) / capacity
    delay = float(run.delays(FROM).mean()) * SECONDS * 1000
    return float(np.mean(sender.rewards[FROM:])), share, delay, run.loss(FROM)


def of_fluids(policy):
    """Return (mean reward, used share of the link, mean RTT in ms, lost share) of a policy on benign fluid links."""
    played = episode([policy], LinkOptions(**LINKS, steps=400), 256)
    now, served = played.knowledge.now, played.links.capacity.astype(np.float64).sum()
    acked, lost = now.acked.astype(np.float64), now.lost.sum(dtype=np.float64)
    rtt = (acked * now.rtt).sum() / acked.sum() * 1000
    return float(played.reward.mean()), float(acked.sum() / served), float(rtt), float(lost / (lost + acked.sum()))


def edge(action):
    """Return a Policy in the envelope that always takes an action."""
    names = {"observe": "custard", "act": ACTS["inside"][0], "reward": "custard"}
    size = signal.load("observe", "custard").size
    layers = [records.LayerRecord([[0.0]] * size, [action])]
    file = records.PolicyFile(query={}, seed=0, **names, history=1, delay=0, interval="2", layers=layers, curve=[])
    return policies.Policy(file, "edge")


def find(cell, given, patterns):
    """Measure a policy in runs with one sort of delays."""
    name = cell["policy"]
    policy = edge(EDGES[name]) if name in EDGES else policies.load(given.folder / f"{name}_{cell['seed']}.json")
    if cell["links"] == "fluid":
        return {"mean": of_fluids(policy)}
    trial, runs = counted(load_result(PROOF), policy, patterns[cell["links"]])
    reward, share, delay, lost = np.transpose(runs)
    return {
        "windows": trial.windows.total(),
        "broken": trial.broken,
        "allowed": {f"{lemma}: {constant}": [float(proved), float(here)]
                    for lemma, constant, proved, here in trial.closest_values()},
        "mean": [reward.mean(), share.mean(), delay.mean(), lost.mean()],
        "worst": [reward.min(), share.min(), delay.max(), lost.max()],
    }  # fmt: skip


def result_lines(results):
    """Yield the table's lines for all seeds of one policy on one sort of links."""
    yield "  mean  " + "  ".join(
        f"{np.mean(values):.4g} [{np.min(values):.3g} to {np.max(values):.3g}]"
        for values in np.transpose([cell["mean"] for cell in results])
    )
    if "worst" in results[0]:
        reward, share, delay, lost = np.transpose([cell["worst"] for cell in results])
        worst = (reward.min(), share.min(), delay.max(), lost.max())
        yield "  worst " + "  ".join(f"{value:.4g}" for value in worst)
        broken = sum((Counter(cell["broken"]) for cell in results), Counter())
        of_seeds = ", ".join(str(sum(cell["broken"].values())) for cell in results)
        windows = sum(cell["windows"] for cell in results)
        yield f"  {windows} windows, {broken.total()} times a bound broken; by seed: {of_seeds}"
        yield from (f"    {name}: {count}" for name, count in broken.most_common())
        for name in results[0]["allowed"]:
            values = [cell["allowed"][name] for cell in results if name in cell["allowed"]]
            yield f"    {name} is {values[0][0]:g}; windows would allow {' '.join(f'{here:g}' for _, here in values)}"


def main():
    """Train the missing policies, measure the missing cells, and print everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=26)
    parser.add_argument("--policies", nargs="+", default=[*EDGES, *ACTS], choices=[*EDGES, *ACTS], metavar="NAME")
    given = parser.parse_args()
    seeds = range(1, given.seeds + 1)
    for name in filter(ACTS.__contains__, given.policies):
        act, deviation = ACTS[name]
        sections = {"environment": {**TRAINED, "act": act}, "agent": {**AGENT, "deviation": deviation}}
        list(train(given.folder, name, sections, seeds))
    files = counterexamples.exported(TRACES, "schedule", 24, 32, given.folder / "traces")
    holding = [as_in(Schedule.load(file)) for file in files]
    patterns = {
        "benign": [benign] * given.runs,
        "jitter": [None] * given.runs,
        "counterexamples": [holding[number % len(holding)] for number in range(given.runs)],
    }
    requests = [
        {"policy": name, "links": links, "seed": seed, "runs": given.runs}
        for links in ("fluid", *patterns) for name in given.policies for seed in (seeds if name in ACTS else [1])
    ]  # fmt: skip
    file = given.folder / "envelopes.json"
    results = cells.results(requests, file, lambda cell: find(cell, given, patterns), lambda cell: "")
    for _, cells_of_one in groupby(results, lambda cell: (cell["links"], cell["policy"])):
        group = list(cells_of_one)
        print(f"{group[0]['policy']}, {group[0]['links']}: reward, share of the link, delay in ms, share lost")
        print(*result_lines(group), sep="\n", flush=True)


if __name__ == "__main__":
    main()
