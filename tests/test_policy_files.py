"""Policies: their files are data that are checked; in C and in ONNX they compute what NumPy does."""

import ctypes
import json

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.emulation import kinds, link, run
from ccmatic.emulation.measures import measures
from ccmatic.learning import policies
from ccmatic.runtime.library import Called, Library
from support.cli import run as command
from support.machine import needs_compiler, on_time
from support.policies import FLOATS, Interval, deciding, pointer, policy, steering


@needs_compiler
@pytest.mark.parametrize("observe, history, sizes", [("aurora", 10, (32, 16)), ("custard", 10, (32, 32, 32))])
def test_c_computes_what_numpy_does(observe, history, sizes, tmp_path):
    given = policy(tmp_path / "made.json", observe=observe, history=history, sizes=sizes)
    network = Library(policies.exported(given))["network"]
    network.restype, network.argtypes = ctypes.c_float, [FLOATS]
    observations = np.random.default_rng(2).normal(size=(200, len(given.layers[0][0]))).astype(np.float32)
    found = [network(pointer(row)) for row in observations]
    assert np.std(found) > 0.1
    np.testing.assert_allclose(found, given(observations), rtol=1e-5, atol=1e-5)


@needs_compiler
@pytest.mark.parametrize("observe, act, reward, delay", [
    ("custard", "custard", "custard", 0), ("custard", "custard", "power", 2), ("custard", "custard", "vivace_loss", 0),
    ("custard", "per_rtt", "aurora", 0), ("custard", "per_rtt", "relative", 0), ("aurora", "aurora", "aurora", 1),
    ("orca", "orca", "orca", 0), ("ltp", "ltp", "ltp", 0),
])  # fmt: skip
def test_c_observes_and_acts_as_the_environment_does(observe, act, reward, delay, tmp_path):
    jax = pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
    pytest.importorskip("gymnasium", reason="no gymnasium: pip install -e '.[rl]'")
    from ccmatic.learning.envs import signals

    given = policy(tmp_path / "made.json", observe=observe, act=act, reward=reward, delay=delay)
    library = Library(policies.exported(given))
    sender, history = Called(library, 1500, 20 * 10**6), np.zeros((3 + delay, policies.OBSERVATIONS[observe]))
    decide = deciding(library)
    array = lambda value: np.full((1, 1), value, np.float32)  # noqa: E731
    known = signals.first(array(0.02), array(0.02), capacity=array(10**6))
    rate, rng = array(10 * 1500 / 0.02), np.random.default_rng(3)
    with jax.disable_jit():
        for _ in range(20):
            sent, acked, lost, out = rng.integers(0, 10**6, 4)
            rtt, rtt_end = 0.02 + 0.03 * rng.random(2)
            known = known.after(signals.Interval(*map(array, (0.02, sent, acked, lost, rtt, rtt_end, out))))
            vector = signals.OBSERVATIONS[observe](known, signals.REWARDS[reward](known))
            history = np.concatenate([history[1:], np.array(vector).reshape(1, -1)])
            seen = history[:3].reshape(1, -1)
            action = np.clip(given(seen), -given.most_action, given.most_action)
            rate = np.maximum(signals.ACTIONS[act][0](array(action[0]), rate, known), 1500 / 0.02)
            observed = np.zeros(seen.size, np.float32)
            interval = Interval(0.02, sent, acked, lost, rtt, rtt_end, out)
            found = decide(sender._pointer, interval, 0.02, pointer(observed))
            np.testing.assert_allclose(observed, seen[0], rtol=2e-5, atol=1e-5)
            np.testing.assert_allclose(found, rate[0, 0], rtol=1e-4)


@needs_compiler
def test_a_sender_measures_its_intervals(tmp_path):
    """What is sent, acknowledged and lost in an interval of R_m is told of it: here 12 packets and a loss of 1/9."""
    slope = np.zeros((6, 1))
    slope[0], slope[2] = 100, 10
    library = Library(policies.exported(policy(tmp_path / "made.json", [(slope, [0])], history=1)))
    sender, packet, rm = Called(library, 1500, 20_000_000), 1500, 20_000_000
    assert sender.rate(0) == 10 * packet / 0.02
    for i in range(1, 13):
        sender.sent(i * 10**6, packet)
    sender.acked(rm - 1, 0, 8 * packet)
    sender.lost(rm, 0, packet)
    sender.sent(rm + 1, packet)
    action = 100 * 12 * packet / 0.02 / 125_000 / 100 + 10 / 9
    assert sender.rate(rm + 1) == pytest.approx(10 * packet / 0.02 * (1 + 0.01 * action), rel=1e-5)
    assert sender.rate(2 * rm + 2) == pytest.approx(sender.rate(rm + 2) * (1 + 0.01 * action / 12 * 1), rel=0.02)


def test_onnx_computes_what_numpy_does(tmp_path):
    pytest.importorskip("onnx", reason="no onnx: pip install -e '.[rl]'")
    from onnx.reference import ReferenceEvaluator

    given = policy(tmp_path / "made.json", observe="aurora")
    code, _, error = command("export", tmp_path / "made.json", "--target", "onnx", "--out", tmp_path / "out")
    assert code == 0, error
    observations = np.random.default_rng(2).normal(size=(50, 9)).astype(np.float32)
    [found] = ReferenceEvaluator(str(tmp_path / "out/made.onnx")).run(None, {"observation": observations})
    np.testing.assert_allclose(found[:, 0], given(observations), rtol=1e-5, atol=1e-5)


def forged(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize("changes, message", [
    ({"observe": "aurora"}, "layer 1 takes 18 numbers, and 3 aurora vectors have 9 numbers"),
    ({"history": 4}, "layer 1 takes 18 numbers, and 4 custard vectors have 24 numbers"),
    ({"observe": "ocra"}, "unknown observe 'ocra'; did you mean 'orca'?"),
    ({"reward": "ltp"}, "unknown reward 'ltp'; known: aurora, custard"),
    ({"interval": "1/0"}, "the interval is '1/0'; expected such as 1, 2 or 1/2"),
    ({"layers": []}, "the last layer gives nothing; expected one number"),
    ({"layers": [{"weights": [[float("nan")]] * 18, "bias": [1]}]}, "layer 1 has a number that is not finite"),
    ({"layers": [{"weights": [[1e39]] * 18, "bias": [1]}]}, "layer 1 has a number that is not finite"),
    ({"layers": [{"weights": [[1, 2]] * 18, "bias": [1]}]}, "expected as many weights in each row as in the bias, 1"),
    ({"layers": [{"weights": [[1, 2]] * 18, "bias": [1, 2]}]}, "the last layer gives 2; expected one number"),
    ({"layers": 3}, "layers: found 3; expected a list"),
    ({"format": "ccmatic trace 1"}, 'expected a policy, with "format": "ccmatic policy 1"'),
])  # fmt: skip
def test_what_is_no_policy_is_said(changes, message, tmp_path):
    path = tmp_path / "made.json"
    policy(path)
    forged(path, **changes)
    with pytest.raises(InputError) as raised:
        kinds.flow(f"policy:{path}")
    assert message in str(raised.value) and raised.value.file == str(path)


def test_a_policy_for_another_observation_is_not_exported(tmp_path):
    path = tmp_path / "made.json"
    policy(path)
    forged(path, observe="aurora")
    code, _, error = command("export", path, "--target", "udp", "--out", tmp_path / "out")
    assert code == 2 and "layer 1 takes 18 numbers, and 3 aurora vectors have 9" in error
    assert len(error.splitlines()) == 1 and not (tmp_path / "out").exists()


def test_the_kernel_takes_no_policy(tmp_path):
    policy(tmp_path / "made.json")
    code, _, error = command("export", tmp_path / "made.json", "--target", "bpf", "--out", tmp_path / "out")
    assert code == 2 and "expected --target udp or c" in error and not (tmp_path / "out").exists()


def test_a_policy_sends(emulator, tmp_path):
    """Over an emulated link, steered to an RTT of 30 ms: nothing waits for longer, and the link is used."""
    steering(tmp_path / "made.json", 30)
    done = on_time(
        lambda: run.emulate(link.of_texts("8mbit", "20ms", "4bdp"), [kinds.asked(f"policy:{tmp_path}/made.json")], 4),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )
    [found] = measures(done, 2).flows
    assert found.utilisation > 0.7 and found.lost == 0 and 20 < found.rtt_ms.mean < 35
