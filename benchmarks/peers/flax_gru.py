"""Train a GRU in flax, write it as an ONNX file of a policy, and compare its actions in four programs.

    python -m benchmarks.peers.flax_gru FILE.onnx

Needs the package flax. The network has a GRU of 16 units and a layer, and sees Aurora's observation of one interval. It
imitates a rule that smooths the RTT: the rate rises if the smoothed RTT is below 1.25 R_m, and falls if the RTT rises.
flax and optax train it, without ccmatic's training. flax has no exporter, so onnx's functions write the nodes that
PyTorch's exporter writes for a GRU.

The command prints the largest differences between the actions of flax, and those of ONNX's reference evaluator, of
ccmatic in JAX and of the exported C. `python -m benchmarks.peers.deployed_start FILE.onnx` runs the policy.
"""

import argparse
import ctypes

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from onnx import TensorProto, helper, numpy_helper, save
from onnx.reference import ReferenceEvaluator

from ccmatic.deployment import policies
from ccmatic.learning import Environment, LinkOptions
from ccmatic.worlds.runtime import Library

LINKS = {"rate": [16, 24, 64], "rtt": [16, 20, 64], "buffer_bdp": 2, "steps": 401}
SENDER = {"observe": "aurora", "act": "aurora", "history": 1}
UNITS, EPISODES, UPDATES = 16, 64, 600

#: The standard deviation of the random part of actions, so that the network also sees the errors of a rate.
NOISE = 2.0


class Remembering(nn.Module):
    """A GRU, and a layer for the action."""

    @nn.compact
    def __call__(self, memory, seen):
        memory, latest = nn.GRUCell(UNITS, name="cell")(memory, seen)
        return memory, nn.Dense(1, name="out")(latest)[..., 0]


def rule(smoothed, seen):
    """Return the smoothed RTT, in R_m above R_m, and the action for an observation."""
    smoothed = smoothed + (seen[..., 1] - smoothed) / 4
    return smoothed, jnp.clip(5 * (0.25 - smoothed) - 20 * seen[..., 0], -10, 10)


def episodes():
    """Return the observations and the rule's actions (intervals, links, …)."""
    environment = Environment(LinkOptions(**LINKS), **SENDER)

    def interval(carry, key):
        links, state, seen, smoothed = carry
        smoothed, action = rule(smoothed, seen)
        state, following, _ = environment.step(links, state, action + NOISE * jax.random.normal(key, action.shape))
        return (links, state, following, smoothed), (seen[:, 0], action[:, 0])

    links, state = environment.reset(jax.random.key(1), EPISODES)
    seen = environment.observation(state)
    begin = links, state, seen, jnp.zeros(seen.shape[:-1])
    return jax.lax.scan(interval, begin, jax.random.split(jax.random.key(2), LINKS["steps"] - 1))[1]


def actions(params, seen):
    """Return flax's actions for observations (intervals, links, numbers)."""
    memory = jnp.zeros((seen.shape[1], UNITS))
    return jax.lax.scan(lambda memory, each: Remembering().apply(params, memory, each), memory, seen)[1]


def trained(seen, wanted):
    """Return the parameters of a network that imitates actions, and its mean square error."""
    params = Remembering().init(jax.random.key(3), jnp.zeros((1, UNITS)), seen[0])
    adam = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(optax.cosine_decay_schedule(1e-2, UPDATES)))

    def update(carry, _):
        params, state = carry
        error, change = jax.value_and_grad(lambda each: ((actions(each, seen) - wanted) ** 2).mean())(params)
        change, state = adam.update(change, state)
        return (optax.apply_updates(params, change), state), error

    (params, _), errors = jax.lax.scan(update, (params, adam.init(params)), length=UPDATES)
    return params, errors[-1]


def write(params, file):
    """Write the network as PyTorch's exporter writes it."""
    cell, out = params["params"]["cell"], params["params"]["out"]
    kernels = {side: [cell[side + gate]["kernel"].T for gate in "zrn"] for side in "ih"}
    biases = [*(cell["i" + gate]["bias"] for gate in "zrn"), np.zeros(2 * UNITS), cell["hn"]["bias"]]
    arrays = {
        "W": np.concatenate(kernels["i"])[None], "R": np.concatenate(kernels["h"])[None],
        "B": np.concatenate(biases)[None], "out.weight": out["kernel"].T, "out.bias": out["bias"],
    }  # fmt: skip
    gru = {"hidden_size": UNITS, "linear_before_reset": 1}
    nodes = [
        helper.make_node("Unsqueeze", ["observation", "zero"], ["sequence"]),
        helper.make_node("GRU", ["sequence", "W", "R", "B", "", "state"], ["all", "hidden"], **gru),
        helper.make_node("Squeeze", ["all", "one"], ["steps"]),
        helper.make_node("Squeeze", ["steps", "zero"], ["last"]),
        helper.make_node("Gemm", ["last", "out.weight", "out.bias"], ["action"], transB=1),
    ]
    shapes = {"observation": ["n", 3], "state": [1, "n", UNITS], "action": ["n", 1], "hidden": [1, "n", UNITS]}
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in shapes.items()]
    tensors = [numpy_helper.from_array(np.float32(array), name) for name, array in arrays.items()]
    tensors += [numpy_helper.from_array(np.array([place]), name) for place, name in enumerate(("zero", "one"))]
    graph = helper.make_graph(nodes, "main_graph", ends[:2], ends[2:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {name: str(value) for name, value in (SENDER | {"interval": 1}).items()})
    save(model, file)


def by_onnx(file, seen):
    """Return the actions of ONNX's reference evaluator on one link."""
    network, memory = ReferenceEvaluator(str(file)), np.zeros((1, 1, UNITS), np.float32)
    for each in seen:
        action, memory = network.run(["action", "hidden"], {"observation": each[None], "state": memory})
        yield action[0, 0]


def by_jax(policy, seen):
    """Return the actions of ccmatic in JAX on one link."""
    memory = jnp.zeros(UNITS)
    for each in seen:
        memory = policies.remembered(policy.cell, each, memory)
        yield policies.outputs(policy.layers, memory, policy.activations)[0]


def by_c(policy, seen):
    """Return the actions of the exported C on one link."""
    library, memory = Library(policies.exported(policy)), np.zeros(UNITS, np.float32)
    floats = ctypes.POINTER(ctypes.c_float)
    recall, network = library["recall"], library["network"]
    recall.restype, recall.argtypes, network.restype, network.argtypes = None, [floats] * 2, ctypes.c_float, [floats]
    for each in seen:
        recall(each.ctypes.data_as(floats), memory.ctypes.data_as(floats))
        yield network(memory.ctypes.data_as(floats))


def main():
    """Train, write and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE.onnx")
    file = parser.parse_args().file
    seen, wanted = jax.jit(episodes)()
    params, error = jax.jit(trained)(seen, wanted)
    write(jax.tree.map(np.asarray, params), file)
    print(f"the rule's actions have the deviation {wanted.std():.2f}; the network's error is {error**0.5:.2f}")
    policy, own = policies.load(file), np.asarray(actions(params, seen))[:, 0]
    one = np.asarray(seen)[:, 0]
    for name, theirs in (("onnx", by_onnx(file, one)), ("jax", by_jax(policy, one)), ("c", by_c(policy, one))):
        print(f"{name}: {len(one)} actions from {own.min():.2f} to {own.max():.2f} differ from flax's by at most "
              f"{np.abs(np.array([*theirs]) - own).max():.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
