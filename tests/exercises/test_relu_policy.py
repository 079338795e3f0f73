"""A ReLU policy of 2 × 16 units, written as ONNX, is a controller: decided, its worst value found, exported, emulated.

The policy was fitted to max(2·C - q, C/2), where C is the larger of two lower bounds of the link rate and q the bytes
that may queue, per R_m; then its weights were rounded to eighths. It reads packets per R_m.
"""

import random
from fractions import Fraction
from math import floor

import numpy as np
import pytest

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.deployment import exporting
from ccmatic.deployment.emulation import machine
from ccmatic.worlds.runtime import Library

pytest.importorskip("onnx")

from support import networks
from support.cli import run
from support.machine import needs_compiler

INPUTS = ("C_L", "C_Llambda", "q_U / R_m")
#: Weights and biases in eighths: a row for each unit, and last the biases.
EIGHTHS = [
    [
        [0, 1, 3],
        [-1, -4, 1],
        [-1, 0, 0],
        [-7, -8, 4],
        [13, 2, 0],
        [6, 0, 1],
        [0, 9, -5],
        [8, 0, -5],
        [4, -1, 0],
        [0, 1, 9],
        [2, 11, -3],
        [0, -7, -4],
        [0, -8, 0],
        [0, 0, 6],
        [0, 4, 0],
        [0, 0, 4],
        [-1, 1, -1, 2, 0, -2, 0, 1, 0, 1, -2, -1, 0, 3, 0, -1],
    ],
    [
        [-3, 0, 0, 0, 0, -1, -3, -1, -4, 0, 0, 0, -1, 1, 0, -1],
        [1, -2, 0, -3, -3, 0, 6, -1, -7, 0, 2, 0, 0, 2, 2, 0],
        [0, -1, 0, 0, 0, 0, -2, 0, -2, 0, 0, 0, 0, 0, 0, 0],
        [-3, -6, 0, -1, 0, 0, 2, -3, 0, 0, 0, -2, 0, -1, 0, 2],
        [0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 3, 0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0],
        [0, 0, 0, -7, 1, 0, 2, 0, 3, 2, 0, 0, 0, 3, 2, 0],
        [0, -1, 0, 11, 2, 1, -17, 11, 15, -6, 0, 5, -2, 1, 0, 0],
        [4, 0, 0, -3, 0, 4, 2, 1, 1, 0, 0, 3, 0, 0, 0, 0],
        [0, -9, 0, 2, 0, 0, 12, 2, 11, 0, 3, 0, 0, -3, 1, -3],
        [0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -4, 0],
        [0, 0, 0, 8, 0, 0, -1, 0, 0, 0, 2, -3, 0, -2, 0, 1],
        [0, 1, 0, 0, 0, 0, 0, 0, -3, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, -3, 0, 0, 0, 0, -3, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, -2, -2, 0, 0, 0, 0, 0],
        [-2, 0, 0, -2, 0, 0, 0, -4, 1, 0, -1, 0, 0, 0, 0, 0],
    ],
    [
        [0, 4, 0, 0, 0, 3, 0, 4, 0, 2, 0, 0, 0, -1, 0, 3],
        [1],
    ],
]
NETWORK = cm.Network("cbr_delay", buffer="infinite", horizon=4)

#: Executions in which it has sent at half of the link's rate or more.
BEGUN = "r_f[0][0] >= 1/2 * C; r_f[0][1] >= 1/2 * C"


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    """The ONNX file."""
    layers = [(np.array(rows[:-1]) / 8, np.array(rows[-1]) / 8) for rows in EIGHTHS]
    return networks.layered(tmp_path_factory.mktemp("policy") / "relu.onnx", INPUTS, layers)


def believing(dice):
    """Beliefs of a sender, with packets of 1500 bytes and a step of R_m."""
    most = 10 ** dice.randint(4, 9)
    return {name: dice.randint(0, most) for name in ("C_L", "C_Llambda", "q_U")}


def test_it_reads_all_of_its_inputs(policy):
    controller = cm.load_controller(policy)
    dice, slopes = random.Random(1), {name: set() for name in ("C_L", "C_Llambda", "q_U")}
    for _ in range(50):
        beliefs = believing(dice) | {"MSS": 1500, "R_m": 1}
        for name, found in slopes.items():
            more = controller.rate(beliefs | {name: beliefs[name] + 1})
            found.add(more - controller.rate(beliefs))
    assert all(len(found) > 5 for found in slopes.values())  # in many pieces, each linear
    calm, queued = ({"C_L": 10**6, "C_Llambda": 10**6, "q_U": q, "MSS": 1500, "R_m": 1} for q in (0, 10**6))
    assert controller.rate(calm) > 1.5 * 10**6 > controller.rate(queued) > 0.75 * 10**6


@pytest.mark.parametrize("horizon", ["4", pytest.param("5", marks=pytest.mark.slow)])
def test_it_is_decided(policy, horizon, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    on = ("--model", "cbr_delay", "--buffer", "infinite", "--horizon", horizon)
    code, told, _ = run("verify", policy, *on)
    assert code == 1 and "relu" in told and "violated" in told
    (file,) = tmp_path.glob("ccmatic-traces/relu-*.json")
    code, told, _ = run("replay", file)  # by exact arithmetic, and without the ONNX file
    assert code == 0 and "passes" in told and "breaks" in told


def test_its_worst_value_is_found(policy):
    worst = cm.worst(policy, NETWORK, given=BEGUN, low="1/10", high="1/5", resolution="1/10")
    assert (worst.none, worst.some) == (Fraction(1, 10), Fraction(1, 5))


@needs_compiler
def test_in_c_it_decides_as_exact_arithmetic_does(policy):
    exported = exporting.make(policy)
    library, dice, rates = Library(exported), random.Random(3), set()
    for _ in range(1000):
        beliefs = believing(dice)
        decided = library.decide(beliefs, 1500)
        assert decided == max(0, floor(exported.controller.rate(beliefs | {"MSS": 1500, "R_m": 1})))
        rates.add(decided)
    assert len(rates) > 900


@needs_compiler
def test_it_is_emulated(policy):
    try:
        machine.require()
    except InputError as error:
        pytest.skip(str(error))
    about = {"rate": "24mbit", "rtt": "40ms", "buffer": "2bdp", "seconds": 1}
    runs = (cm.emulate([f"udp:{policy}"], **about) for _ in range(3))  # a busy machine may hold up a run
    assert any(run.mbit_per_second > 0 and not run.faults for run in runs)
