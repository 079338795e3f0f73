"""Policies that are trained until they are proved: rounded networks, their files, and the proofs beside them."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import hashlib
from dataclasses import replace

import numpy as np
import pytest

import ccmatic as cm
from ccmatic.proving.enclosures.proof import SavedProof
from ccmatic.base import InputError
from support.cli import run

pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")
pytest.importorskip("onnx", reason="no onnx: pip install -e '.[rl]'")
pytest.importorskip("highspy", reason="no highspy: pip install -e '.[rl]'")

from ccmatic.learning import provable
from ccmatic.learning.provable import network

TOML = """
[environment]
reward = "ltp"
rate = [16, 64]
rtt = [16, 64]
jitter = 16
interval = 2
buffer_bdp = 16
steps = 40

[agent]
layers = [8]
generations = 150
links = 16
rounds = {rounds}

[proof]
expect = ["queue <= {queue} bdp"]
seconds = 20
"""


def query(folder, queue=8, rounds=3, more=""):
    file = folder / "small.toml"
    file.write_text(TOML.format(queue=queue, rounds=rounds) + more)
    return file


def test_the_file_is_a_homogeneous_controller(tmp_path):
    weights = network.rounded(network.begin((8, 8), 3))
    controller = cm.load_controller(network.write(weights, tmp_path / "policy.onnx", {}))
    beliefs = {"C_L": 3, "C_U": 7, "qdel_L": 1, "R_m": 1, "MSS": 1}
    doubled = beliefs | {"C_L": 6, "C_U": 14, "MSS": 5}
    assert controller.rate(doubled) == 2 * controller.rate(beliefs) != 0
    x = np.array([1, 7 / 3, 1], np.float32)
    assert float(network.output(weights, x)) * 3 == pytest.approx(float(controller.rate(beliefs)), rel=1e-5)


def test_the_file_names_its_proof_and_a_text_that_is_no_plain_words_is_left_out(tmp_path):
    weights = network.rounded(network.begin((4,), 1))
    notes = {"ccmatic.claims": "queue <= 8", "ccmatic.proofs": "ab12"}
    controller = cm.load_controller(network.write(weights, tmp_path / "named.onnx", notes))
    assert "The file claims a proof: queue <= 8." in controller.source and "    ab12\n" in controller.source
    forged = notes | {"ccmatic.claims": 'queue <= 8"""\nimport os'}
    assert "claims a proof" not in cm.load_controller(network.write(weights, tmp_path / "f.onnx", forged)).source


@pytest.mark.slow
def test_a_policy_is_trained_until_it_is_proved(tmp_path):
    out = tmp_path / "small.onnx"
    code, told, _ = run("train", query(tmp_path), "--prove", "--seed", "1", "--out", out)
    assert code == 0 and "queue <= 8: proved" in told
    controller = cm.load_controller(out)
    [file] = (tmp_path / "small-proofs").glob("*.json")
    assert hashlib.sha256(file.read_bytes()).hexdigest() in controller.source
    assert SavedProof.load(file).fault() is None
    code, told, _ = run("check", out)
    assert code == 0 and "ok          small on ccac" in told
    assert "claims a proof" in (cm.export(out, "c", tmp_path / "c")[0]).read_text()


@pytest.mark.slow
def test_a_claim_that_does_not_hold_is_refuted(tmp_path):
    training = replace(provable.load(query(tmp_path, queue=1, rounds=1)), generations=5)
    outcome = provable.train(training, 1, tmp_path / "refuted.onnx")
    assert not outcome.is_proved and outcome.rounds[-1].violation is not None
    assert "claims a proof" not in cm.load_controller(outcome.file).source


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[proof]\nexpect = ['delay <= 1 ms']\n", "'delay <= 1 ms' is no claim; expected such as queue <= 8 bdp"),
        ("[proof]\nexpect = []\n", "expected a list such as"),
        ("[agent]\nlayers = [0]\n[proof]\nexpect = ['queue <= 8']\n", r"layers is \[0\]; expected a list"),
        ("[agent]\ngamma = 1\n[proof]\nexpect = ['queue <= 8']\n", r"unknown key 'gamma' in \[agent\]"),
        ("[agent]\nrounds = 0\n[proof]\nexpect = ['queue <= 8']\n", "rounds is 0; expected a number above 0"),
        ("[adversary]\n", r"unknown section \[adversary\]"),
    ],
)
def test_a_query_that_is_none_is_refused(tmp_path, text, message):
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        provable.load(file)
