"""Policies' networks: an action for an observation."""

import ctypes
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from ccmatic.deployment import policies
from ccmatic.worlds.runtime.library import Library
from conformance.worlds import Kind, Number
from support.policies import FLOATS, pointer, policy

#: Units of the hidden layers, by name.
SIZES = {"no hidden layer": (), "small": (8, 4), "32-16": (32, 16), "deep": (8, 8, 8, 8)}


@cache
def made(name):
    """A policy of random weights."""
    with TemporaryDirectory() as folder:
        return policy(Path(folder) / "made.json", observe="aurora", sizes=SIZES[name])


def cases(name, rng, count) -> Iterator[tuple[float, ...]]:
    """Observations: zeros, ends, random numbers."""
    size = len(made(name).layers[0][0])
    for _ in range(count):
        most = rng.choice((0, 1, 1, 10))
        yield tuple(float(np.float32(rng.choice((0.0, most, rng.uniform(-most, most))))) for _ in range(size))


def exact(name):
    """The network in double precision."""

    def of(observation):
        x = np.array(observation)
        for number, (weights, bias) in enumerate(made(name).layers, 1):
            x = x @ weights.astype(float) + bias.astype(float)
            x = np.tanh(x) if number < len(made(name).layers) else x
        return {"action": Number(float(x[0]), size=10)}

    return of


def in_c(name):
    """The exported network."""
    network = Library(policies.exported(made(name)), ("-O0",))["network"]
    network.restype, network.argtypes = ctypes.c_float, [FLOATS]
    return lambda observation: [(observation, {"action": network(pointer(np.float32(observation)))})]


def in_arrays(name):
    """The network that learners and training run."""
    import jax.numpy as jnp

    def action(observation):
        return float(policies.outputs(made(name).layers, jnp.float32(jnp.array(observation)))[0])

    return lambda seen: [(seen, {"action": action(seen)})]


def in_onnx(name):
    """The ONNX model, by the reference evaluator."""
    from onnx.reference import ReferenceEvaluator

    with TemporaryDirectory() as folder:
        evaluator = ReferenceEvaluator(str(policies.write_onnx(made(name), Path(folder) / "made.onnx")))

    def run(observation):
        [found] = evaluator.run(None, {"observation": np.float32([observation])})
        yield observation, {"action": float(found[0, 0])}

    return run


NETWORKS = Kind(
    name="networks",
    definitions=tuple(SIZES),
    cases=cases,
    exact=exact,
    worlds={"C floats": in_c, "arrays": in_arrays, "ONNX": in_onnx},
)
