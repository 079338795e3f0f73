"""Policies trained in an envelope and out of it: what they get, on average and at worst, and in how many windows of
simulated runs a proved bound is broken.

    python -m benchmarks.studies.envelopes FOLDER [--seeds N] [--runs N]

Policies that differ in `act` alone are trained, of so many seeds (3), where FOLDER has none: in the envelope
cc_qdel_wide and without it, on links of 16 or 64 Mbit/s and ms with jitter of 16 ms. Each run is one of 130 steps,
packet by packet, on a link drawn by its seed, the same ones for each policy, with a buffer that the proof allows, and
two changes of its rate. A step is R_m with jitter, as in the envelope's proof, whose D that is. What lies behind the
bottleneck is, in as many runs each (26):

    benign           R_m, half a step
    jitter           what the model allows: up to D, by the simulator's patterns
    counterexamples  the delays of traces that show that a constant of the proof is no better, over and over

Windows are counted, and how often one breaks a lemma of the proof. Of each run, from step FROM on, with the mean over
all and the worst: reward, share of the link, mean queueing delay, share lost; beside the mean the spread of the seeds.
And of benign links in the fluid simulator. FOLDER/envelopes.json keeps what is found."""

import argparse
from collections import Counter
from fractions import Fraction
from pathlib import Path

import jax.numpy as jnp
import numpy as np

from benchmarks.lib import cells, counterexamples
from benchmarks.lib.trained import episode, train
from ccmatic.controllers import signal
from ccmatic.learning import LinkOptions, policies
from ccmatic.learning.envs import signals
from ccmatic.proving import Trial, load_result
from ccmatic.trace_export import Schedule

PROOF = counterexamples.ROOT / "results" / "proofs" / "cc_qdel-cc_qdel_wide_T11.json"

#: Where the counterexamples are from: two proofs of the envelope.
TRACES = [f"proofs/{proof}-cc_qdel_wide_T11-traces/*.json" for proof in ("cc_qdel", "link_rate_large")]

LINKS = {"rate": [16, 64], "rtt": [16, 64], "buffer_bdp": 8, "interval": 2}
TRAINED = {**LINKS, "observe": "custard", "reward": "custard", "history": 4, "jitter": 16, "steps": 200}
AGENT = {"layers": [32, 16], "gamma": 0.9, "parallel": 128, "episodes": 30}

#: An action of each, and how far it deviates at first: the same share of what actions there are.
ACTS = {"inside": ("envelope:cc_qdel_wide", 0.4), "outside": ("custard", 4.0)}

#: Bytes of a packet, and seconds of a step, for policies; and the packets that are sent in the first R_m.
PACKET, SECONDS, FIRST = 1500, 0.032, 10

#: From which step on a run counts.
FROM = 20


class Choosing:
    """A Policy as a sender of the packet simulator, whose packets are of one byte: called with the Rates that an
    envelope allows and an Observation it gives the rate of the next step. A policy that is in no envelope heeds none.
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

    def __call__(self, allowed, seen):
        policy = self._policy
        if seen.step:
            self._learn(seen)
        action = float(np.clip(policy(self._history[: policy.file.history].reshape(1, -1))[0], *policy.bounds))
        if policy.envelope:
            return allowed.low + (allowed.high - allowed.low) * (Fraction(action) + 1) / 2
        known = self._known._replace(action=_one(action))
        self._rate = jnp.maximum(known.value(self._formulas["act"].term, rate=self._rate), PACKET / SECONDS)
        return Fraction(float(self._rate[0, 0]) * SECONDS / PACKET)

    def _learn(self, seen):
        """As ccmatic.learning's packets are measured."""
        counts, last = (seen.sent, seen.delivered, seen.lost), self._known.now
        sent, acked, lost = (_one(PACKET * (new - old)) for new, old in zip(counts, self._before, strict=True))
        self._before = counts
        end = _one(float(seen.delay) * SECONDS) if acked else last.rtt_end
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
    """The jitter of a simulation in which R_m is half a step, and nothing is held besides."""
    return lambda now: now + step // 2


def as_in(schedule):
    """The jitter of a simulation that holds as a Schedule does, over and over, up to a step."""
    instants, *curves = np.array(schedule.points, float).T
    now = np.arange(0, schedule.duration, schedule.step / 64)
    admitted, served = (np.interp(now, instants, curve) for curve in curves)
    return counterexamples.holding(counterexamples.held(now, admitted, served, schedule.duration, schedule.step), 64)


def counted(result, policy, jitters):
    """Of runs in which a Policy says what is sent, as many as jitters, of seeds 0, 1 …: the Trial of a proof, a Result,
    and of each run what was `got`."""
    senders = []

    def choose(*_):
        senders.append(Choosing(policy))
        return senders[-1]

    trial = Trial(result, choose)
    runs = [trial.run(seed, jitter) for seed, jitter in enumerate(jitters)]
    return trial, [got(run, sender) for run, sender in zip(runs, senders, strict=True)]


def got(run, sender):
    """Of a run from step FROM on: (mean reward, share of the link, mean queueing delay in ms, share lost)."""
    served = run.samples["S"]
    capacity = sum(run.path_within(step, step).bdp for step in range(FROM, run.steps))
    share = float(served[-1] - served[FROM]) / capacity
    delay = float(run.delays(FROM).mean()) * SECONDS * 1000
    return float(np.mean(sender.rewards[FROM:])), share, delay, run.loss(FROM)


def of_fluids(policy):
    """(mean reward, share of the link that was used, mean RTT in ms, share lost) on benign links as fluids."""
    played = episode([policy], LinkOptions(**LINKS, steps=400), 256)
    now, served = played.knowledge.now, played.links.capacity.astype(np.float64).sum()
    acked, lost = now.acked.astype(np.float64), now.lost.sum(dtype=np.float64)
    rtt = (acked * now.rtt).sum() / acked.sum() * 1000
    return float(played.reward.mean()), float(acked.sum() / served), float(rtt), float(lost / (lost + acked.sum()))


def find(cell, given, patterns):
    """What is found of a policy in one kind of runs."""
    policy = policies.load(given.folder / f"{cell['policy']}_{cell['seed']}.json")
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


def told(found):
    """The table's lines of one policy's seeds on one kind of links."""
    yield "  mean  " + "  ".join(
        f"{np.mean(values):.4g} [{np.ptp(values):.2g}]" for values in np.transpose([cell["mean"] for cell in found])
    )
    if "worst" in found[0]:
        reward, share, delay, lost = np.transpose([cell["worst"] for cell in found])
        worst = (reward.min(), share.min(), delay.max(), lost.max())
        yield "  worst " + "  ".join(f"{value:.4g}" for value in worst)
        broken = sum((Counter(cell["broken"]) for cell in found), Counter())
        yield f"  {sum(cell['windows'] for cell in found)} windows, {broken.total()} times a bound broken"
        yield from (f"    {name}: {count}" for name, count in broken.most_common())
        for name in found[0]["allowed"]:
            values = [cell["allowed"][name] for cell in found if name in cell["allowed"]]
            yield f"    {name} is {values[0][0]:g}; windows would allow {' '.join(f'{here:g}' for _, here in values)}"


def main():
    """Train what is missing, find what is not known, and print it all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--runs", type=int, default=26)
    given = parser.parse_args()
    seeds = range(1, given.seeds + 1)
    for name, (act, deviation) in ACTS.items():
        sections = {"environment": {**TRAINED, "act": act}, "agent": {**AGENT, "deviation": deviation}}
        list(train(given.folder, name, sections, seeds))
    files = counterexamples.exported(TRACES, "schedule", 24, 32, given.folder / "traces")
    holding = [as_in(Schedule.load(file)) for file in files]
    patterns = {
        "benign": [benign] * given.runs,
        "jitter": [None] * given.runs,
        "counterexamples": [holding[number % len(holding)] for number in range(given.runs)],
    }
    asked = [
        {"policy": name, "links": links, "seed": seed, "runs": given.runs}
        for links in ("fluid", *patterns) for name in ACTS for seed in seeds
    ]  # fmt: skip
    known = given.folder / "envelopes.json"
    found = cells.results(asked, known, lambda cell: find(cell, given, patterns), lambda cell: "")
    for first in range(0, len(found), given.seeds):
        group = found[first : first + given.seeds]
        print(f"{group[0]['policy']}, {group[0]['links']}: reward, share of the link, delay in ms, share lost")
        print(*told(group), sep="\n", flush=True)


if __name__ == "__main__":
    main()
