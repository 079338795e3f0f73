"""Measures in order: one may degrade where one before it improves, and progress still adds up."""

from dataclasses import replace
from fractions import Fraction

import pytest

from ccmatic.contracts import load_definition
from ccmatic.logic import isolated
from ccmatic.proving.claim import sentences, windows, windows_after
from ccmatic.proving.prover import Prover
from support import TESTS

TINY = TESTS / "proofs" / "tiny.py"
RISING = load_definition("proofs", "PROOF", "link_rate_used").state("C_U too low")
NAME = "C_U too low: nothing degrades"
VALUES = {"rise": Fraction(11, 10), "fall": Fraction(2), "utilisation": Fraction(1, 2), "C_L_least": Fraction(1, 2)}


@isolated
def verdict(tmp_path, change):
    """On the lemma in windows of five steps, of the small proof with a change of its third state."""
    file = tmp_path / "tiny.py"
    text = TINY.read_text().replace("states=(EMPTY, HIGH, LOW, TRUE)", f"states=(EMPTY, HIGH, {change}, TRUE)")
    file.write_text(text)
    prover = Prover(str(file), "cc_qdel", horizon=6)
    return prover.ask(prover.lemmas[NAME], VALUES).verdict


@pytest.mark.parametrize(
    "change, expected",
    [
        ("LOW", "violated"),
        ("replace(LOW, ordered=True)", "holds"),
        ("replace(LOW, ordered=True, measures=LOW.measures[::-1])", "violated"),
    ],
)
def test_a_bound_may_fall_only_where_one_before_it_rises(tmp_path, change, expected):
    """C_L falls, where C_U rises by half, and never the other way round."""
    assert verdict(tmp_path, change) == expected


def test_windows_are_counted_as_often_as_a_measure_may_begin_again():
    """Each time that the first improves the second may have all its steps again: with n and m steps (1 + n)(1 + m)."""
    counted = "⌊log_1.1(C/C_U)⌋", "⌊log_1.1(C/C_L)⌋"
    assert windows(RISING, VALUES) == f"(1 + {counted[0]})·(1 + {counted[1]})"
    assert windows(replace(RISING, ordered=False), VALUES) == f"1 + {counted[0]} + {counted[1]}"
    assert windows_after(RISING, Fraction(2), VALUES) is None
    assert windows_after(replace(RISING, ordered=False), Fraction(2), VALUES) == 1 + 7 + 14


def test_the_claim_says_from_where_it_is_counted():
    proof = load_definition("proofs", "PROOF", "link_rate_used")
    values = {constant.name: constant.low for constant in proof.constants}
    told = " ".join(sentences(proof, load_definition("models", "MODEL", "ccac"), 11, values))
    assumed = "The number covers the worst case: when C_U improves, C_L may fall back as far as possible."
    assert "⌋) windows of 10 R_m begin in this state. " in told and f". {assumed} The next state is" in told
