"""The loop that trains a network until the rounded network is proved.

An evolution strategy (Salimans et al., 2017), compiled as one loop, trains it. The gradient of the reward is estimated
from pairs of networks that differ from the current one by opposite random amounts. No gradient has to pass through
beliefs, which jump.
"""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array
from numpy.typing import NDArray

from ccmatic import records
from ccmatic.answers.verification import Judge
from ccmatic.base import writable_folder
from ccmatic.controllers import Controller
from ccmatic.learning.agents import policy_file
from ccmatic.learning.envs import Environment, beliefs
from ccmatic.learning.envs.beliefs import Beliefs
from ccmatic.learning.provable import network
from ccmatic.learning.provable.network import Weights
from ccmatic.learning.provable.query import ProvableTraining, load
from ccmatic.logic.solving import SolverOptions
from ccmatic.networks import trace_export
from ccmatic.networks.traces import Trace
from ccmatic.proving import enclosures
from ccmatic.proving.enclosures import Enclosed
from ccmatic.proving.invariants import Answer, Claim
from ccmatic.questions.query import Query

#: The pairs of networks in a generation, and the standard deviation of their differences.
PAIRS, DEVIATION = 16, 0.1

#: The weight, in a generation's reward, of sending faster or slower than the guard allows.
GUARD = 10.0


def improved(training: ProvableTraining, weights: Weights, seed: int) -> tuple[Weights, float]:
    """Return the weights after all generations of a training, and the mean reward of the last generation."""
    environment = training.environment
    optimiser = optax.adam(training.learning_rate)

    def score(weights: Weights, key: Array) -> Array:
        reward, outside = played(environment, partial(network.share, weights), key, training.links, training.guard)
        return reward - GUARD * outside

    def generation(carry: Any, key: Array) -> tuple[Any, Array]:
        weights, state = carry
        one, two = jax.random.split(key)
        keys = jax.random.split(one, len(weights))
        noise = [jax.random.normal(k, (PAIRS, *w.shape)) for k, w in zip(keys, weights, strict=True)]
        both = [jnp.concatenate([w + DEVIATION * n, w - DEVIATION * n]) for w, n in zip(weights, noise, strict=True)]
        scores = jax.vmap(score, (0, None))(both, two)
        ranks = jnp.argsort(jnp.argsort(scores)) / (2 * PAIRS - 1) - 0.5
        better = ranks[:PAIRS] - ranks[PAIRS:]
        gradient = [-jnp.tensordot(better, n, 1) / (PAIRS * DEVIATION) for n in noise]
        changes, state = optimiser.update(gradient, state, weights)
        return (optax.apply_updates(weights, changes), state), scores.mean()

    @jax.jit
    def run(weights: Weights, key: Array) -> tuple[Weights, Array]:
        begin = weights, optimiser.init(weights)
        (after, _), scores = jax.lax.scan(generation, begin, jax.random.split(key, training.generations))
        return after, scores[-1]

    after, reward = run(weights, jax.random.key(seed))
    return after, float(reward)


def played(
    environment: Environment,
    decide: Callable[[Beliefs], Array],
    key: Array,
    n: int,
    guard: tuple[Array, Array] | None = None,
) -> tuple[Array, Array]:
    """Return the mean reward of an episode, and the mean distance of the rates from the guard, in units of C_L.

    `decide` maps beliefs to rates in units of C_L.
    """
    options = environment.options
    links, state = environment.reset(key, n)

    def interval(carry: Any, nothing: None) -> tuple[Any, tuple[Array, Array]]:
        bounds, state = carry
        after = bounds.learned(state.knowledge)
        bounds = jax.tree.map(lambda new, old: jnp.where(state.interval > 0, new, old), after, bounds)
        share = decide(bounds)
        outside = jnp.zeros_like(share)
        if guard is not None:
            low, high = (jnp.where(bounds.qdel_L > 0, end[1], end[0]) for end in guard)
            outside = jnp.maximum(0, low - share) + jnp.maximum(0, share - high)
        rate = jnp.maximum(share * bounds.C_L, bounds.packet) / state.knowledge.now.seconds
        state, _, reward = environment.step(links, state, rate.T)
        return (bounds, state), (reward.mean(), outside.mean())

    first = beliefs.of_links(links, options.slots), state
    _, (rewards, distances) = jax.lax.scan(interval, first, None, options.steps)
    return rewards.mean(), distances.mean()


#: The steps of the executions among which a violation is searched.
STEPS = 6


class Round(NamedTuple):
    number: int
    reward: float  #: the mean reward of its last generation
    proofs: tuple[Enclosed, ...]  #: the outcome for each claim, up to the first that is not proved
    violation: Trace | None  #: the execution that breaks a claim; None if no execution was found


@dataclass(frozen=True)
class Outcome:
    file: Path  #: the ONNX file of the network
    weights: list[NDArray[np.float32]]  #: the rounded weights (inputs, outputs) of each layer
    proofs: tuple[Enclosed, ...]  #: the outcomes of the last round
    rounds: tuple[Round, ...]

    @property
    def is_proved(self) -> bool:
        return all(proof.answer is Answer.PROVED for proof in self.proofs)


def train_proved(
    query: str | Path,
    out: str | Path | None = None,
    *,
    seed: int = 0,
    told: Callable[[records.ProvedLine], None] = lambda line: None,
) -> tuple[Path, str]:
    """Train a ReLU policy over beliefs until its claims are proved (docs/reference/learning.md). This needs `rl`.

    `file, verdict = cm.train_proved("relu.toml")` trains, and states whether the proof succeeded.

    Args:
        query: The TOML file with the sections [environment], [agent] and [proof].
        out: The ONNX file of the policy. By default, NAME.onnx.
        seed: The seed of all random numbers.
        told: A function that is called with a record after each round.

    Returns:
        The file, and the verdict: `holds` if all claims are proved, `violated` if an execution breaks a claim of the
        last round, and otherwise `unknown`.

    Raises:
        InputError: If the file describes no such training, or the extra is not installed.
    """
    training = load(query)
    file = policy_file(query, out, ".onnx")

    def listener(made: Round) -> None:
        claims = {str(proof.claim): proof.answer.value for proof in made.proofs}
        told(
            records.ProvedLine(made.number, training.rounds, round(made.reward, 4), claims, made.violation is not None)
        )

    outcome = train(training, seed, file, listener)
    refuted = outcome.rounds[-1].violation is not None
    return outcome.file, "holds" if outcome.is_proved else "violated" if refuted else "unknown"


def train(
    training: ProvableTraining, seed: int, out: str | Path, listener: Callable[[Round], object] = lambda line: None
) -> Outcome:
    """Train a network, and prove the rounded network. After a failure, learn from a violation, and repeat.

    The file has the network of the last round. If all claims are proved, the folder of the file has the proofs, and the
    metadata of the file names them.
    """
    weights, rounds = network.begin(training.layers, seed), list[Round]()
    out, query = Path(out), training.query()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, training.rounds + 1):
            weights, reward = improved(training, weights, seed + 1000 * number)
            exact = network.rounded(weights)
            controller = query.controller(network.write(exact, Path(folder) / f"{out.stem}.onnx", {}))
            assert isinstance(controller, Controller)  # The output is named `rate`.
            proofs = tuple(_proved(query, controller, training))
            failed = [proof for proof in proofs if proof.answer is not Answer.PROVED]
            violation = violation_of(training, controller, failed[0].claim) if failed else None
            rounds.append(Round(number, reward, proofs, violation))
            listener(rounds[-1])
            if not failed:
                break
            training = _learning_from(training, violation, Path(folder) / f"violation_{number}.json")
        notes = _saved(proofs, out) if not failed else {}
        return Outcome(network.write(exact, out, notes), exact, proofs, tuple(rounds))


def _proved(query: Query, controller: Controller, training: ProvableTraining) -> Iterator[Enclosed]:
    """Yield the outcome for each claim, up to the first that is not proved."""
    for claim in training.claims:
        proof = enclosures.prove(query, controller, claim, training.seconds)
        yield proof
        if proof.answer is not Answer.PROVED:
            return


def violation_of(training: ProvableTraining, controller: Controller, claim: Claim) -> Trace | None:
    """Return a replayed execution that breaks a claim about a bound; None if the solver finds none in time."""
    if claim.within is not None:
        return None
    query = training.query(f"{claim.subject} {claim.relation} {claim.amount} bdp", STEPS)
    judgement = Judge(query, options=SolverOptions(timeout=training.seconds)).judge(controller)
    is_replayed = judgement.report is not None and not judgement.report.faults
    return judgement.trace if judgement.verdict == "violated" and is_replayed else None


def _learning_from(training: ProvableTraining, violation: Trace | None, file: Path) -> ProvableTraining:
    """Return the training of the next round: inside the envelope, and with the violation among its links."""
    training, options = training.guarded(), training.environment.options
    if violation is None:
        return training
    rate, rtt = training.scale
    scale = trace_export.Scale(rate * 125_000, rtt / 1000, options.packet)
    content, _ = trace_export.export(violation, "schedule", scale)
    file.write_bytes(content)
    links = replace(options, links={"constant": 0.75, f"schedule:{file}": 0.25})
    return replace(training, environment=replace(training.environment, options=links))


def _saved(proofs: tuple[Enclosed, ...], out: Path) -> dict[str, str]:
    folder = writable_folder(enclosures.folder_of(out))
    return enclosures.notes_of(
        {proof.save(folder, f"claim_{number}"): proof.claim for number, proof in enumerate(proofs, 1)}
    )
