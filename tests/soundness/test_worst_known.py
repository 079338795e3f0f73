"""`worst` finds the edges that are known of CCAC's controllers: published, or recorded from its tool."""

from fractions import Fraction

import pytest

import ccmatic as cm

#: CCAC's periodic traces for Copa: the last two windows and rates are the first two.
PUBLISHED = (
    "A[-1] - L[-1] - C*(T-1) + W[-1] == A[0] - L[0] + W[0]; A[-1] - L[-1] - S[-1] == A[0] - L[0] - S[0];"
    "L[-1] - Ld_f[0][-1] == L[0] - Ld_f[0][0]; L[0] == 0;"
    "ALLT(0, 2, lambda t: And(c_f[0][T-1-t] == c_f[0][1-t], r_f[0][T-1-t] == r_f[0][1-t]))"
)
STEADY = "L_f[0][0] - Ld_f[0][0] <= C*(R+D) + alpha; c_f[0][0] <= C*(R+D) + {beta} + alpha; alpha < 1/3"
LOSES = "ANYT(1, T, lambda t: And(L[t] > L[t-1], c_f[0][t-1] + alpha < x))"


def network(waste="", buffer="infinite", horizon=6):
    return cm.Network(f"ccac2021{waste}", buffer, horizon)


@pytest.mark.slow
@pytest.mark.parametrize("horizon, edge", [(6, ("3/5", "13/20")), (8, ("11/20", "3/5")), (10, ("11/20", "3/5"))])
def test_copa_uses_half_of_the_link_where_waste_is_not_composed(horizon, edge):
    """The edges of the recorded verdicts `copa_util_periodic_L0`, not composing."""
    worst = cm.worst("copa", network("_non_composing", horizon=horizon), given=PUBLISHED, resolution="1/20")
    assert (worst.none, worst.some) == tuple(map(Fraction, edge))


@pytest.mark.slow
@pytest.mark.parametrize("period", [4, 6, 8])
def test_copa_uses_half_of_the_link_for_ever(period):
    asked = network("_non_composing", horizon=2 * period + 1)
    assert cm.worst("copa", asked, period=period, given="alpha < 1/4", at="1/2").trace is None


@pytest.mark.slow
def test_copa_and_bbr_are_as_low_as_one_likes_where_waste_is_composed():
    for name, period in (("copa", 6), ("bbr", 4)):
        worst = cm.worst(name, network(horizon=2 * period + 1), period=period, given="alpha < 1/4", at="1/1000")
        assert worst.trace is not None and not worst.report.faults


@pytest.mark.slow
@pytest.mark.parametrize("beta", ["1/2", "19/10", "3"])
def test_a_loss_of_aimd_needs_a_window_of_the_buffer_less_a_packet(beta):
    asked = {"given": STEADY.format(beta=beta), "high": 4, "resolution": "1/1000"}
    worst = cm.worst("aimd", network(buffer=beta, horizon=5), LOSES, **asked)
    assert (worst.none, worst.some - worst.none) == (Fraction(beta), Fraction(1, 1000))


@pytest.mark.slow
def test_the_published_lemma_4_says_nothing_of_a_large_buffer(tmp_path):
    """Its script leaves the largest queue at 1 where the buffer is 3, so that nothing can be lost."""
    (tmp_path / "small.py").write_text(
        "from ccmatic.models.ccac2021 import CCAC2021\n\nMODEL = CCAC2021(most_queue=1)\n"
    )
    worst = cm.worst("aimd", cm.Network(str(tmp_path / "small.py"), "3", 5), "loss", given=STEADY.format(beta=3))
    assert (worst.none, worst.some) == (0, None)


@pytest.mark.slow
def test_what_two_windows_leave_each_other():
    """The edge of the recorded verdicts `two_const_ratio_empty`."""
    given = "L[0] == 0; A_f[0][0] == 0; A_f[1][0] == 0; alpha == 1"
    asked = network("_two_flows", horizon=4)
    worst = cm.worst("constant_window", asked, "S_f[1][-1] < x * S_f[0][-1]", given=given, resolution="1/20")
    assert (worst.none, worst.some) == (Fraction(3, 10), Fraction(7, 20))
