"""Policies with a memory (a GRU), choices, and normalised observations: trained, and the same in every world."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import json
import sys
from io import BytesIO, TextIOWrapper
from unittest.mock import patch

import msgspec
import numpy as np
import pytest

pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")

import ctypes

import jax
import jax.numpy as jnp

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.deployment import policies
from ccmatic.deployment.emulation.kinds import Trained
from ccmatic.learning import LinkOptions, agents, trained
from ccmatic.worlds.runtime import Library, LibraryFlow
from support.cli import run
from support.machine import needs_compiler
from support.policies import FLOATS, Interval, deciding, pointer, policy

UNITS = 5


def remembering(path, units=UNITS, history=2, **others):
    """Write a policy with a memory and random weights, and return it."""
    file = policy(path, sizes=(4,), history=history, **others).file
    rng, inputs = np.random.default_rng(3), len(file.layers[0].weights)

    def layer(taken, given):
        return records.LayerRecord(*(np.float32(rng.normal(size=n)).tolist() for n in ((taken, given), given)))

    parts = [layer(inputs + units, units), layer(inputs + units, units), layer(inputs, units), layer(units, units)]
    layers = [layer(units, 4), *file.layers[1:]]
    file = msgspec.structs.replace(file, memory=records.MemoryRecord(*parts), layers=layers)
    policies.save(file, path)
    return policies.load(path)


def expected(policy, observations, memory=None):
    """The memory and the action after each observation, in double precision, by the equations of Cho et al."""
    (update, a), (reset, b), (seen, c), (recalled, d) = policy.cell
    memory = np.zeros(policy.cell.units) if memory is None else memory
    for x in observations:
        both = np.concatenate([x, memory])
        z, r = (1 / (1 + np.exp(-(both @ weights + bias))) for weights, bias in ((update, a), (reset, b)))
        candidate = np.tanh(x @ seen + c + r * (memory @ recalled + d))
        memory = (1 - z) * candidate + z * memory
        hidden = memory
        for weights, bias in policy.layers[:-1]:
            hidden = np.tanh(hidden @ weights + bias)
        yield memory, (hidden @ policy.layers[-1][0] + policy.layers[-1][1])[0]


def observations(count, size=12):
    return np.float32(np.random.default_rng(4).normal(size=(count, size)) * 2)


def c_actions(policy, observations):
    """Return the action after each observation, as the C code of a policy computes it."""
    library, memory = Library(policies.exported(policy)), np.zeros(policy.cell.units, np.float32)
    recall, network = library["recall"], library["network"]
    recall.restype, recall.argtypes, network.restype, network.argtypes = None, [FLOATS] * 2, ctypes.c_float, [FLOATS]
    actions = []
    for each in observations:
        recall(pointer(each), pointer(memory))
        actions.append(network(pointer(memory)))
    return actions


@needs_compiler
def test_a_memory_is_the_same_in_every_world(tmp_path):
    made, seen = remembering(tmp_path / "made.json"), observations(60)
    memories, actions = zip(*expected(made, seen), strict=True)
    assert np.ptp(actions) > 1 and np.std(memories, axis=0).min() > 0.05

    memory, found = jnp.zeros(UNITS), []
    for each in seen:
        memory = policies.remembered(made.cell, each, memory)
        found.append(float(policies.outputs(made.layers, memory)[0]))
    np.testing.assert_allclose(found, actions, rtol=1e-4, atol=1e-5)

    np.testing.assert_allclose(c_actions(made, seen), actions, rtol=1e-4, atol=1e-5)

    pytest.importorskip("onnx", reason="no onnx: pip install -e '.[rl]'")
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(str(policies.write_onnx(made, tmp_path / "made.onnx")))
    memory, found = np.zeros((1, UNITS), np.float32), []
    for each in seen:
        action, memory = evaluator.run(["action", "next_memory"], {"observation": each[None], "memory": memory})
        found.append(action[0, 0])
    np.testing.assert_allclose(found, actions, rtol=1e-4, atol=1e-5)


def test_an_onnx_file_with_a_memory_is_read_as_it_was_written(tmp_path):
    pytest.importorskip("onnx", reason="no onnx: pip install -e '.[rl]'")
    made = remembering(tmp_path / "made.json")
    again = Trained(policies.write_onnx(made, tmp_path / "again.onnx")).export.policy  # as `policy:again.onnx` reads it
    assert again.file.memory == made.file.memory
    assert [(each.weights, each.bias) for each in again.file.layers] == [
        (each.weights, each.bias) for each in made.file.layers
    ]


def like_pytorch(path, change=lambda nodes: nodes, outputs=("action", "hidden"), **options):
    """Write a GRU and a layer as PyTorch's exporter does, after a normalisation of observations."""
    from onnx import TensorProto, helper, numpy_helper, save

    rng, units = np.random.default_rng(5), 3
    arrays = {
        "mean": rng.normal(size=12), "std": rng.uniform(0.5, 2, 12), "W": rng.normal(size=(1, 9, 12)),
        "R": rng.normal(size=(1, 9, 3)), "B": rng.normal(size=(1, 18)), "out.weight": rng.normal(size=(1, 3)),
        "out.bias": rng.normal(size=1),
    }  # fmt: skip
    own = {"hidden_size": units, "linear_before_reset": 1, **options}
    nodes = change(
        [
            helper.make_node("Sub", ["obs", "mean"], ["centred"]),
            helper.make_node("Div", ["centred", "std"], ["scaled"]),
            helper.make_node("Unsqueeze", ["scaled", "zero"], ["sequence"]),
            helper.make_node("GRU", ["sequence", "W", "R", "B", "", "state"], ["all", "hidden"], **own),
            helper.make_node("Squeeze", ["all", "one"], ["steps"]),
            helper.make_node("Squeeze", ["steps", "zero"], ["last"]),
            helper.make_node("Gemm", ["last", "out.weight", "out.bias"], ["action"], transB=1),
        ]
    )
    shapes = {"obs": ["n", 12], "state": [1, "n", units], "action": ["n", 1], "hidden": [1, "n", units]}
    taken, given = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name]) for name in names]
        for names in (("obs", "state"), outputs)
    )
    tensors = [numpy_helper.from_array(np.float32(array), name) for name, array in arrays.items()]
    tensors += [numpy_helper.from_array(np.array([place]), name) for place, name in enumerate(("zero", "one"))]
    graph = helper.make_graph(nodes, "main_graph", taken, given, tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    helper.set_model_props(model, {"observe": "custard", "act": "custard", "history": "2", "interval": "1"})
    save(model, path)
    return model


@needs_compiler
def test_a_gru_of_pytorch_gives_its_numbers_in_c(tmp_path):
    pytest.importorskip("onnx", reason="no onnx: pip install -e '.[rl]'")
    from onnx.reference import ReferenceEvaluator

    theirs, seen = ReferenceEvaluator(like_pytorch(tmp_path / "x.onnx")), observations(60)
    memory, actions = np.zeros((1, 1, 3), np.float32), []
    for each in seen:
        action, memory = theirs.run(["action", "hidden"], {"obs": each[None], "state": memory})
        actions.append(action[0, 0])
    assert np.ptp(actions) > 1
    read = policies.load(tmp_path / "x.onnx")
    np.testing.assert_allclose([action for _, action in expected(read, seen)], actions, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(c_actions(read, seen), actions, rtol=1e-4, atol=1e-5)


def changed(place, **fields):
    """Return a function that replaces fields of one node in a list."""

    def change(nodes):
        for name, values in fields.items():
            part = getattr(nodes[place], name)
            del part[:]
            part.extend(values)
        return nodes

    return change


@pytest.mark.parametrize("change, options, outputs, message", [
    (changed(0), {"linear_before_reset": 0}, ("action", "hidden"), r"node 4 \(GRU\): expected one GRU .*linear_before"),
    (changed(0), {"clip": 3.0}, ("action", "hidden"), "has the attribute 'clip'; expected the defaults"),
    (changed(3, input=["sequence", "W", "R", "B"]), {}, ("action", "hidden"), "with an input of its memory"),
    (changed(3, input=["sequence", "W", "R", "B", "", "out.weight"]), {}, ("action", "hidden"), "input of its memory"),
    (changed(3, input=["sequence", "no\nweights", "R", "B", "", "state"]), {}, ("action", "hidden"),
     r"node 4 \(GRU\) reads 'no weights', which is not defined before it$"),
    (changed(3, input=["sequence", "W", "W", "B", "", "state"]), {}, ("action", "hidden"), "the shapes .* that fit"),
    (changed(0), {}, ("action",), "the memory of the GRU is no input, or the next memory no output"),
    (changed(4, input=["all", "mean"]), {}, ("action", "hidden"), r"node 5 \(Squeeze\)"),
    (lambda nodes: [*nodes[:1], type(nodes[1])(op_type="Relu", input=["centred"], output=["scaled"]), *nodes[2:]],
     {}, ("action", "hidden"), "a function such as Relu is in front of the GRU"),
])  # fmt: skip
def test_a_gru_that_does_not_fit_is_refused(tmp_path, change, options, outputs, message):
    pytest.importorskip("onnx", reason="no onnx: pip install -e '.[rl]'")
    like_pytorch(tmp_path / "x.onnx", change, outputs, **options)
    with pytest.raises(InputError, match=message):
        policies.load(tmp_path / "x.onnx")


@pytest.mark.parametrize("command", [
    ("verify", "x.onnx", "--on", "ccac, buffer 1 bdp", "--expect", "queue <= 4 bdp"),
    ("prove", "x.onnx", "--on", "ccac, buffer infinite", "--expect", "inflight <= 8 bdp"),
    ("verify", "x.onnx", "--property", "x.vnnlib"),
])  # fmt: skip
def test_a_formal_question_refuses_a_memory_with_the_reason(tmp_path, command):
    pytest.importorskip("onnx", reason="no onnx: pip install -e '.[rl]'")
    policies.write_onnx(remembering(tmp_path / "made.json"), tmp_path / "x.onnx")
    (tmp_path / "x.vnnlib").write_text("(declare-const X_0 Real)\n(declare-const Y_0 Real)\n(assert (>= Y_0 1))\n")
    code, out, error = run(*command, cwd=tmp_path)
    assert (code, out) == (2, "")
    assert "node 3 (GRU): multiplies values that depend on the inputs, and has a memory; expected a network" in error


@needs_compiler
@pytest.mark.parametrize("act", ["custard", "aurora"])
def test_a_sender_begins_with_an_empty_observation_as_training_does(tmp_path, act):
    made = remembering(tmp_path / "made.json", act=act)
    library = Library(policies.exported(made))
    flow, decide = LibraryFlow(library, 1500, 40 * 10**6), deciding(library)
    rng, seen, rows, rates, questions = np.random.default_rng(2), np.zeros(12, np.float32), [], [], [{"begin": 0.04}]
    for _ in range(20):
        acked, rtt = 1500 * int(rng.integers(1, 40)), float(np.float32(0.04 + 0.04 * rng.random()))
        rates.append(decide(flow._pointer, Interval(0.04, acked, acked, 0, rtt, rtt, 0, 0), 0.04, pointer(seen)))
        rows.append(seen.copy())
        questions.append({"seconds": 0.04, "sent": acked, "acked": acked, "lost": 0, "rtt": rtt, "rtt_end": rtt})
    actions = [float(np.clip(action, -10, 10)) for _, action in expected(made, [np.zeros(12), *rows])][1:]
    answers = asked(tmp_path / "made.json", questions)
    assert [answer["action"] for answer in answers[1:]] == pytest.approx(actions, rel=1e-3, abs=1e-4)
    assert [answer["rate"] for answer in answers[1:]] == pytest.approx(rates, rel=1e-6)
    if act == "custard":
        steps = np.array(rates) / np.array([15000 / 0.04, *rates[:-1]])
        np.testing.assert_allclose(steps, 1 + 0.01 * np.array(actions), rtol=1e-4)


@needs_compiler
@pytest.mark.parametrize("act", ["custard", "envelope:cc_qdel_wide"])
def test_its_c_code_compiles_without_warnings(tmp_path, act):
    made = remembering(tmp_path / "made.json", act=act)
    assert Library(policies.exported(made), ("-O1", "-Wall", "-Wextra", "-Werror"))["recall"]
    if act == "custard":
        guarded = policies.guarded(f"cc_qdel_wide:policy:{tmp_path}/made.json")
        assert Library(guarded, ("-O1", "-Wall", "-Wextra", "-Werror"))["recall"]


def asked(file, questions):
    """The answers of `ccmatic act`."""
    text = "".join(json.dumps(each) + "\n" for each in questions)
    with patch.object(sys, "stdin", TextIOWrapper(BytesIO(text.encode()))):
        code, out, error = run("act", file)
    assert code == 0, error
    return [json.loads(line) for line in out.splitlines()]


def test_a_simulated_flow_has_the_memory_of_its_observations(tmp_path):
    made = remembering(tmp_path / "made.json")
    environment, player = trained(made, LinkOptions(rate=24, rtt=20, steps=30))

    @jax.jit
    def play(key):
        links, state = environment.reset(key, 2)

        def interval(carry, _):
            memory, state = carry
            observation = environment.observation(state)
            memory, action = player.act(memory, links, state, observation)
            return (memory, environment.step(links, state, action)[0]), (observation[1, 0], action[1, 0])

        return jax.lax.scan(interval, (player.begin(links), state), None, 8)[1]

    seen, acted = map(np.asarray, play(jax.random.key(1)))
    actions = [np.clip(action, -10, 10) for _, action in expected(made, seen)]
    np.testing.assert_allclose(acted, actions, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("change, message", [
    (lambda memory: msgspec.structs.replace(memory, update=memory.candidate), "update has 12 rows .*expected 17"),
    (lambda memory: msgspec.structs.replace(memory, recalled=memory.candidate), "memory.recalled has 12 rows"),
    (lambda memory: msgspec.structs.replace(memory, candidate=records.LayerRecord([[1.0]] * 12, [0.0] * 5)),
     "memory.candidate: expected as many weights in each row as in the bias, 5"),
    (lambda memory: msgspec.structs.replace(
        memory, recalled=records.LayerRecord([[1e39] * 5] * 5, [0.0] * 5)), "memory.recalled has a number that is not"),
    (lambda memory: msgspec.structs.replace(
        memory, recalled=msgspec.structs.replace(memory.recalled, activation="tanh")), "recalled has an activation"),
])  # fmt: skip
def test_a_memory_of_wrong_shapes_or_numbers_is_refused(tmp_path, change, message):
    file = remembering(tmp_path / "made.json").file
    policies.save(msgspec.structs.replace(file, memory=change(file.memory)), tmp_path / "bad.json")
    with pytest.raises(InputError, match=message):
        policies.load(tmp_path / "bad.json")


# Training

TASK = """\
[environment]
history = 2
rate = 32
rtt = 32
steps = 11
first = 0.5
observe = "orca"
reward = "ltp"
{environment}

[agent]
layers = [4]
parallel = 8
episodes = 2
rollout = 5
epochs = 1
batches = 2
{agent}
"""


def training(folder, environment="", agent=""):
    (folder / "task.toml").write_text(TASK.format(environment=environment, agent=agent))
    return folder / "task.toml"


def test_choices_memory_and_normalised_observations_are_trained(tmp_path):
    query = training(tmp_path, "choices = [-10, 0, 10]", "memory = 3\nnormalise = true")
    code, out, error = run("train", query, "--json", cwd=tmp_path)
    assert code == 0, error
    made = policies.load(tmp_path / "task.json")
    assert made.choices == (-10, 0, 10) and made.cell.units == 3
    assert [weights.shape for weights, _ in made.layers] == [(3, 4), (4, 3)]
    deviations = [json.loads(line)["deviation"] for line in out.splitlines()[:2]]
    assert deviations == pytest.approx([(200 / 3) ** 0.5] * 2, rel=0.05)  # at first, the choices are equally likely


@needs_compiler
def test_relu_policies_are_trained_and_continued(tmp_path):
    query = training(tmp_path, "", 'activation = "relu"')
    code, _, error = run("train", query, cwd=tmp_path)
    assert code == 0, error
    made = policies.load(tmp_path / "task.json")
    assert made.activations == ("relu", "none")
    asked = agents.load(query)
    agent = asked.algorithm(asked)
    actor, seen = agent.actor(agent.begin(jax.random.key(1))), observations(40, asked.environment.size)
    hidden = np.maximum(0, seen @ actor.layers[0][0] + actor.layers[0][1])
    expected_outputs = hidden @ actor.layers[1][0] + actor.layers[1][1]
    np.testing.assert_allclose(actor.outputs(None, seen), expected_outputs, rtol=1e-4, atol=1e-6)
    more = training(tmp_path, "", f'activation = "relu"\ninitial = "{tmp_path}/task.json"')
    state = (asked := agents.load(more)).algorithm(asked).begin(jax.random.key(2))
    np.testing.assert_array_equal(state.networks.policy.layers[0][0], made.layers[0][0])
    with pytest.raises(InputError, match="has a memory or no tanh between layers; expected only tanh"):
        agents.load(training(tmp_path, "", f'initial = "{tmp_path}/task.json"'))


@pytest.mark.parametrize("memory", [0, 3])
def test_a_policys_file_normalises_observations_as_training_did(tmp_path, memory):
    asked = agents.load(training(tmp_path, "", f"memory = {memory}\nnormalise = true"))
    agent = asked.algorithm(asked)
    state = jax.jit(agent.begin)(jax.random.key(1))
    size, rng = asked.environment.size, np.random.default_rng(1)
    mean, variance = jnp.float32(rng.normal(size=size)), jnp.float32(rng.uniform(0.1, 4, size)).at[0].set(0)
    state = state._replace(seen=state.seen._replace(mean=mean, variance=variance))
    seen = np.float32(rng.normal(size=(20, size)))
    normalised = (seen - mean) / jnp.maximum(jnp.sqrt(variance), 0.01)
    results = []
    for actor, given in ((agent.actor(state), seen), (state.networks.policy, normalised)):
        after = jax.jit(actor.remembered)(jnp.full((20, memory), 0.3), given)
        results.append(jax.jit(actor.outputs)(after, given))
    assert np.ptp(results[0]) > 1e-3
    np.testing.assert_allclose(*results, rtol=1e-3, atol=1e-4)


def test_a_rollout_with_a_memory_has_the_probabilities_with_which_it_acted(tmp_path):
    """Before any update, the ratio of PPO is 1 for each interval, also where an earlier rollout is continued."""
    from ccmatic.learning.agents.algorithms import ppo
    from ccmatic.learning.agents.algorithms.ppo import Place, log_probability

    asked = agents.load(training(tmp_path, "", "memory = 3"))
    agent = asked.algorithm(asked)

    @jax.jit
    def play():
        state = agent.begin(jax.random.key(1))
        played, seen = asked.links.begin(jax.random.key(2))

        def rollout(place, key):
            place, (noted, rewards, _) = agent._play(state, place, jax.random.split(key, 5))
            batch = ppo.Batch(*noted[:5], rewards, rewards, rewards)
            outputs = state.networks.policy.outputs(ppo._memories(state.networks, batch), batch.seen)
            return place, (log_probability(state.networks, outputs, batch.action), noted.log, noted.memory[0])

        place = Place(played, seen, state.networks.policy.first_memory(8))
        return jax.lax.scan(rollout, place, jax.random.split(jax.random.key(3), 2))[1]

    again, noted, memory = play()
    np.testing.assert_allclose(again, noted, atol=1e-5)
    assert float(jnp.abs(memory[1]).max()) > 1e-3


@pytest.mark.parametrize("environment, agent, message", [
    ("choices = [-1, 1]", 'algorithm = "td3"', "choices with the algorithm td3; expected none, or ppo"),
    ("choices = [-1, 1]", "deviation = 0.5", "deviation is 0.5, with choices; expected none"),
    ("choices = [1, -1]", "", "choices is .*ascending"),
    ("", "memory = -1", "memory is -1; expected a whole number from 0 to 1024"),
    ("", "memory = 2.5", "memory is 2.5; expected a whole number"),
    ("", 'activation = "gelu"', "activation is gelu; expected tanh or relu"),
    ("", "normalise = 1", "normalise is 1; expected true or false"),
    ("", 'memory = 2\ninitial = "x.json"', "initial with memory or normalise; expected one of them"),
    ("", "memory = 2\nparallel = 1", "batches is 2; expected no more than parallel, because of the memory"),
])  # fmt: skip
def test_what_cannot_be_trained_is_refused(tmp_path, environment, agent, message):
    query = training(tmp_path, environment, agent)
    text = query.read_text().replace("parallel = 8\n", "" if "parallel" in agent else "parallel = 8\n")
    query.write_text(text.replace("rollout = 5\nepochs = 1\nbatches = 2\n", "") if "td3" in agent else text)
    with pytest.raises(InputError, match=message):
        agents.load(query)


def test_a_policy_with_a_memory_is_no_initial_policy(tmp_path):
    remembering(tmp_path / "made.json", observe="orca", act="custard", reward="ltp")
    with pytest.raises(InputError, match="has a memory or no tanh"):
        agents.load(training(tmp_path, "", f'initial = "{tmp_path}/made.json"'))
