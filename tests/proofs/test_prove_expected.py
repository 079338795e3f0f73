"""`prove --expect`: the effect of a proof's constants on an expectation, checked against the lemmas' own terms."""

from fractions import Fraction

import pytest
from ccmatic.properties.expectations import parse

import ccmatic as cm
from ccmatic.contracts import load_definition
from ccmatic.proving.shapes import implies
from support.cli import run

PROOF = load_definition("proofs", "PROOF", "link_rate")
CONSTANTS = {"utilisation": Fraction(9, 10), "inflight": Fraction(3), "loss": Fraction(2)}


@pytest.mark.parametrize(
    "text, implied",
    [
        ("utilisation >= 80%", True),  # 9/10 · 8/9
        ("utilisation >= 81%", False),
        ("utilisation >= 1% over every 16 rtt", False),  # no whole window, if it begins within one
        ("utilisation >= 42% over every 17 rtt", True),  # one whole window: 7.2 of 17
        ("utilisation >= 43% over every 17 rtt", False),
        ("utilisation >= 55% over every 26 rtt", True),  # two: 14.4 of 26
        ("utilisation <= 80%", False),
        ("queue <= 6 bdp", True),  # 3·C(R_m + D)
        ("queue < 6 bdp", False),
        ("queue <= 60 packets", False),
        ("loss <= 2 packets", True),
        ("loss <= 5 packets over every 3 rtt", False),
        ("loss <= 6 packets over every 3 rtt", True),
        ("queue <= 6 bdp while rate <= 50%", False),
        ("window <= 9 bdp", False),
    ],
)
def test_constants_imply_an_expectation(text, implied):
    horizon = 9 + PROOF.common
    assert PROOF.jitter == 1
    assert implies(parse(text), PROOF, horizon, CONSTANTS) is implied


def test_what_no_shape_decides_is_refused():
    question = cm.ask("cc_qdel", "ccac, buffer infinite", "delay <= 2 rtt")
    with pytest.raises(cm.InputError, match="no shape decides 'delay <= 2 rtt'; expected one about utilisation"):
        cm.prove_expected(question)


@pytest.mark.parametrize(
    "text, why",
    [
        ("queue <= 2 bdp while rate <= 50%", "not about those of a condition"),
        ("queue <= 9 packets", "the constant 'inflight' of a shape is in bdp"),
        ("utilisation <= 80%", "the constant 'utilisation' of a shape bounds it from the other side"),
    ],
)
def test_what_no_constants_imply_is_unknown_without_a_search(text, why, tmp_path):
    question = cm.ask("cc_qdel", "ccac, buffer infinite", text)
    assert [*cm.prove_expected(question, tmp_path)] == [] and not [*tmp_path.iterdir()]
    code, out, err = run("prove", "cc_qdel", "--on", "ccac, buffer infinite", "--expect", text, cwd=tmp_path)
    assert (code, err) == (3, "") and why in out and out.count("\n") == 2 and "by invariants: " in out


def test_a_proof_is_not_from_one_start():
    question = cm.ask("cc_qdel", "ccac, buffer infinite", "queue <= 2 bdp", start="converged")
    with pytest.raises(cm.InputError, match="expected any"):
        cm.prove_expected(question)
