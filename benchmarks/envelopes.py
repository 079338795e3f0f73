"""Trained policies in an envelope and out of it: in how many windows of simulated runs a proved bound is broken.

    python benchmarks/envelopes.py PROOF.json POLICY.json… [--runs RUNS]

PROOF.json: of an envelope, such as proofs/cc_qdel-cc_qdel_wide_T11.json. Each run is one of 130 steps, packet by
packet, on a link drawn by its seed, the same ones for each policy, with jitter of up to D, a buffer that the proof
allows, and two changes of its rate. Its windows are counted, those that break a lemma of the proof by the lemma's name,
and the constants that every window would allow. Then, in the fluid simulator on 256 links of 16 or 64 Mbit/s and ms,
without jitter, with buffers of 8 BDPs: mean reward, the share of the link that was used, mean RTT, the share lost.
"""

import argparse
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
from trained import episode

from ccmatic import policies
from ccmatic.learning import Asked, signals
from ccmatic.proving import Trial, load_result

#: Bytes of a packet, and seconds of a step, for policies; and the packets that are sent in the first R_m.
PACKET, SECONDS, FIRST = 1500, 0.032, 10


class Choosing:
    """A Policy as a sender of the packet simulator, whose packets are of one byte: called with the Rates that an
    envelope allows and an Observation it gives the rate of the next step. A policy that is in no envelope heeds none.
    """

    def __init__(self, policy):
        file, step = policy.file, _one(SECONDS)
        self._policy = policy
        self._known, self._rate, self._before = signals.first(step, step), _one(FIRST * PACKET / SECONDS), (0, 0, 0)
        self._history = np.zeros((file.history + file.delay, policies.OBSERVATIONS[file.observe]), np.float32)

    def __call__(self, allowed, seen):
        policy, most = self._policy, self._policy.most_action
        if seen.step:
            self._learn(seen)
        action = float(np.clip(policy(self._history[: policy.file.history].reshape(1, -1))[0], -most, most))
        if policy.envelope:
            return allowed.low + (allowed.high - allowed.low) * (Fraction(action) + 1) / 2
        change, _ = signals.ACTIONS[policy.file.act]
        self._rate = jnp.maximum(change(action, self._rate, self._known), PACKET / SECONDS)
        return Fraction(float(self._rate[0, 0]) * SECONDS / PACKET)

    def _learn(self, seen):
        """As ccmatic.learning's packets are measured."""
        counts, last = (seen.sent, seen.delivered, seen.lost), self._known.now
        sent, acked, lost = (_one(PACKET * (new - old)) for new, old in zip(counts, self._before, strict=True))
        self._before = counts
        end = _one(float(seen.delay) * SECONDS) if acked else last.rtt_end
        rtt = (last.rtt_end + end) / 2 if acked else last.rtt
        self._known = self._known.after(
            signals.Interval(_one(SECONDS), sent, acked, lost, rtt, end, last.out + sent - acked - lost)
        )
        reward = signals.REWARDS[self._policy.file.reward](self._known)
        vector = np.float32(signals.OBSERVATIONS[self._policy.file.observe](self._known, reward)).reshape(1, -1)
        self._history = np.concatenate([self._history[1:], vector])


def _one(value):
    return np.full((1, 1), value, np.float32)


def counted(result, policy, runs):
    """The Trial of a proof, a Result, in which a Policy says what is sent in so many runs."""
    trial = Trial(result, lambda *_: Choosing(policy))
    for seed in range(runs):
        trial.run(seed)
    return trial


def benign(policy):
    """(mean reward, share of the link that was used, mean RTT in ms, share lost) in the fluid simulator."""
    asked = Asked(rate=[16, 64], rtt=[16, 64], buffer_bdp=8, steps=400, interval=policy.file.interval)
    played = episode([policy], asked, 256)
    now, served = played.known.now, played.links.capacity.astype(np.float64).sum()
    acked, lost = now.acked.astype(np.float64), now.lost.sum(dtype=np.float64)
    rtt = (acked * now.rtt).sum() / acked.sum() * 1000
    return float(played.reward.mean()), acked.sum() / served, rtt, lost / (lost + acked.sum())


def main():
    """Print what is counted of each policy, and what it does elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proof")
    parser.add_argument("policies", nargs="+")
    parser.add_argument("--runs", type=int, default=100)
    given = parser.parse_args()
    result = load_result(given.proof)
    for path in given.policies:
        policy = policies.load(path)
        trial = counted(result, policy, given.runs)
        windows, broken = trial.windows.total(), trial.broken.total()
        print(f"{policy.name} ({policy.file.act}): {windows} windows, {broken} times a bound broken")
        for name, count in trial.broken.most_common():
            print(f"  {name}: {count}")
        for lemma, constant, proved, here in trial.closest_values():
            print(f"  {lemma}: {constant} is {float(proved):g}; every window would allow {float(here):g}")
        told = "reward {:.2f}, utilisation {:.3f}, RTT {:.1f} ms, loss {:.5f}".format(*benign(policy))
        print(f"  on links without jitter: {told}", flush=True)


if __name__ == "__main__":
    main()
