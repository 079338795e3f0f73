"""Train ReLU policies until they are proved, sabotage some of them, and look for runs that break a proof.

    python -m benchmarks.studies.provable FOLDER [--seeds N] [--seconds N] [--deep-seconds N] [--generations N]

The command trains policies of 8, 16, 32 and 2 × 16 units over beliefs, by default for 3 seeds. Each policy claims that
at most 8 C·step are in flight, and that at least half of the link is used, but for 8 C·step, in each interval. The
training keeps to the envelope cc_qdel_wide from its first round on. Then the command changes one weight of six
policies, and tries to prove and to refute them. Each proved policy plays 1,024 episodes of 100 steps, half of them with
jitter that is as late as possible; an episode counts from the step at which C_L is at least half of C. The command
writes a line per policy to FOLDER/provable.jsonl, and resumes there.
"""

import argparse
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import process_time

import jax
import jax.numpy as jnp
import numpy as np
import onnx
from onnx import numpy_helper

from ccmatic.learning import provable
from ccmatic.learning.envs import Environment, beliefs
from ccmatic.learning.provable import network
from ccmatic.learning.provable.loop import violation_of
from ccmatic.proving import enclosures
from ccmatic.proving.invariants import Answer

QUERY = Path(__file__).parents[2] / "examples" / "provable.toml"

SHAPES = [(8,), (16,), (32,), (16, 16)]

#: The number of episodes of each kind of jitter, and their steps.
EPISODES, STEPS = 512, 100

#: The number of policies with one changed weight.
SABOTAGED = 6

#: The bounds of the claims: bytes in flight, and the share with its K, in C·step.
MOST, SHARE, WITHIN = 8.0, 0.5, 8.0


@cache
def _player(pattern):
    """Return the compiled function that plays all episodes with one kind of jitter."""
    environment = provable.load(QUERY).environment
    options = replace(environment.options, pattern=pattern, steps=STEPS, buffer_bdp=100)
    long = Environment(options, act="rate", observe="aurora", reward=environment.reward)
    return jax.jit(lambda weights, key: _played(long, weights, key))


def measured(weights):
    """Return the largest bytes in flight and the largest lack of service, in C·step, over all episodes."""
    worst = np.zeros(2)
    for pattern in ("uniform", "latest"):
        flight, lack = _player(pattern)([jnp.asarray(each) for each in weights], jax.random.key(1))
        worst = np.maximum(worst, [float(flight.max()), float(lack.max())])
    return worst


def _played(environment, weights, key):
    """Return two values for each link, from the time at which C_L is at least C/2.

    The values are the largest number of bytes in flight, and the largest lack of service.
    """
    options = environment.options
    links, state = environment.reset(key, EPISODES)
    capacity = links.capacity.mean(0) / links.slot

    def interval(carry, _):
        bounds, state, informed, lack = carry
        after = bounds.learned(state.knowledge)
        bounds = jax.tree.map(lambda new, old: jnp.where(state.interval > 0, new, old), after, bounds)
        share = network.output(weights, network.inputs(bounds))
        seconds = state.knowledge.now.seconds
        rate = jnp.maximum(share * bounds.C_L, bounds.packet) / seconds
        step = capacity * seconds  # the bytes of C·step
        informed = informed | (bounds.C_L[0] >= step[0] / 2)
        state, _, _ = environment.step(links, state, rate.T)
        now = state.knowledge.now
        lack = jnp.where(informed, jnp.maximum(0, lack + SHARE - now.acked[0] / step[0]), 0)
        return (bounds, state, informed, lack), (jnp.where(informed, now.out[0] / step[0], 0), lack)

    first = beliefs.of_links(links, options.slots), state, jnp.zeros(EPISODES, bool), jnp.zeros(EPISODES)
    _, (flight, lack) = jax.lax.scan(interval, first, None, options.steps)
    return flight.max(0), lack.max(0)


def trained(training, seed, folder):
    """Return the row of one trained policy, whose network gets a file in a folder."""
    begin, name = process_time(), f"relu_{'x'.join(map(str, training.layers))}_{seed}"
    outcome = provable.train(training.guarded(), seed, folder / f"{name}.onnx")
    row = {
        "policy": name,
        "rounds": len(outcome.rounds),
        "reward": round(outcome.rounds[-1].reward, 3),
        "claims": {str(proof.claim): proof.answer.value for proof in outcome.proofs},
        "proof_seconds": [round(proof.seconds, 1) for proof in outcome.proofs],
        "cpu_seconds": round(process_time() - begin, 1),
        "proved": outcome.is_proved,
    }
    if outcome.is_proved:
        begin = process_time()
        row["faults"] = [proof.fault() for proof in outcome.proofs]
        row["check_cpu_seconds"] = round(process_time() - begin, 2)
    return row | _compared(outcome.weights)


def sabotaged(training, name, folder):
    """Return the row of a trained policy after a change of one weight.

    The changed weight has the other sign. It is the one whose change raises the rate after a delay the most.
    """
    weights = [numpy_helper.to_array(each) for each in onnx.load(folder / f"{name}.onnx").graph.initializer]
    begin, changed = process_time(), [each.copy() for each in weights]
    places = [(layer, *place) for layer, each in enumerate(weights) for place in np.ndindex(each.shape)]
    layer, *place = max(places, key=lambda at: _rate_after_delay(weights, at))
    changed[layer][tuple(place)] *= -1
    controller = training.query().controller(network.write(changed, folder / f"{name}_sabotaged.onnx", {}))
    claims, answers, violation = training.claims, {}, None
    for claim in claims:
        proof = enclosures.prove(training.query(), controller, claim, training.seconds)
        answers[str(claim)] = proof.answer.value
        if proof.answer is not Answer.PROVED:
            violation = violation_of(training, controller, claim)
            answers[str(claim)] = "refuted" if violation else "unknown"
    row = {"policy": f"{name}_sabotaged", "claims": answers, "cpu_seconds": round(process_time() - begin, 1)}
    return row | {"proved": {*answers.values()} == {"proved"}} | _compared(changed)


def _rate_after_delay(weights, at):
    """Return the rate after a delay, in units of C_L, if the weight at a place has the other sign."""
    layer, *place = at
    x = np.array([1, 2, 1], np.float32)
    for number, each in enumerate(weights):
        matrix = each.copy()
        if number == layer:
            matrix[tuple(place)] *= -1
        x = x @ matrix
        if number < len(weights) - 1:
            x = np.maximum(x, 0)
    return float(x[0])


def _compared(weights):
    flight, lack = measured(weights)
    return {"most_in_flight": round(float(flight), 2), "most_lack": round(float(lack), 2)}


def main():
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--deep-seconds", type=float, default=600, help="for networks of two layers")
    parser.add_argument("--generations", type=int, default=600)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    file = arguments.folder / "provable.jsonl"
    done = {json.loads(line)["policy"] for line in file.read_text().splitlines()} if file.exists() else set()
    training = replace(provable.load(QUERY), rounds=1, generations=arguments.generations)

    def told(row):
        print(row, flush=True)
        with file.open("a") as lines:
            lines.write(json.dumps(row) + "\n")

    pairs = [(seed, layers) for seed in range(1, arguments.seeds + 1) for layers in SHAPES]
    for seed, layers in sorted(pairs, key=lambda pair: len(pair[1])):  # the slow proofs come last
        name = f"relu_{'x'.join(map(str, layers))}_{seed}"
        seconds = arguments.seconds if len(layers) == 1 else arguments.deep_seconds
        if name not in done:
            told(trained(replace(training, layers=layers, seconds=seconds), seed, arguments.folder))
        if (seed, layers) in pairs[:SABOTAGED] and f"{name}_sabotaged" not in done:
            told(sabotaged(replace(training, seconds=arguments.seconds), name, arguments.folder))


if __name__ == "__main__":
    main()
