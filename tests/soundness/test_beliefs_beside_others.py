"""Beliefs that are declared sound beside other flows.

They are true in every execution of two flows with any senders, and as tight as the samples permit. They are also true
in simulations.
"""

import pytest
from ccmatic.models.beliefs.beside_others import WINDOW
from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Waste

import ccmatic as cm
from ccmatic.answers.verification import Outcome
from support.believing import ANYONE, PLANTED
from support.benchmarks import defined_by

COMPOSING, CONSTANT, OWN_JITTER = "two_flows", "two_flows_constant_rate", "two_flows_own_jitter"

#: Of the steps of which the first flow says so, others were served less in each. Twelve steps are enough for a delay of
#: two in the first of them.
OVERSTATES, STEPS = f"others_L_f[0][T-1] * {WINDOW} > S_f[1][T-2] - S_f[1][T-2-{WINDOW}]", WINDOW + 4

#: Says when its last byte waited for two steps at least: false if all that had come with it was let through before.
SAYS = ANYONE.format(believed="wait_L, step").replace("def", "long: condition = False\ndef", 1)
SAYS = SAYS.replace("    pace = ", "    long = wait_L >= 2 * step\n    pace = ")
TOO_LONG = "ANYT(5, T-1, lambda t: And(long_f[0][t+1] == 1, C * (t-1-D) - W[t-1-D] {} A[t-3-D] - L[t-3-D]))"


def asked(model, what, horizon):
    network = cm.Network(model, "infinite", horizon, delay="executions", model_name=str(model))
    return cm.Query(network, "avoids", what=what)


def beside_anyone(believing, query):
    return cm.verify([query.read_controller(believing), "anyone"], query)


@pytest.mark.parametrize(
    "model", [COMPOSING, *(pytest.param(each, marks=pytest.mark.slow) for each in (CONSTANT, OWN_JITTER))]
)
def test_others_are_served_what_is_believed_at_least(model):
    query = asked(model, OVERSTATES, STEPS)
    assert beside_anyone(ANYONE.format(believed="others_L"), query).holds


@pytest.mark.parametrize("old, new", [
    (f"({WINDOW - 1} * step - D)", f"({WINDOW} * step - D)"),
    pytest.param(f"busy_{WINDOW - 2}\n    others_le", f"busy_{WINDOW - 4}\n    others_le", marks=pytest.mark.slow),
    pytest.param("step] > D", "step] >= D", marks=pytest.mark.slow),
])  # fmt: skip
def test_another_sample_makes_it_false(old, new, tmp_path):
    """One of more bytes, of fewer steps that tell, or of a delay that jitter explains."""
    file = tmp_path / "mine.py"
    file.write_text(PLANTED.format(flows=2, believed="others_L", old=old, new=new))
    query = asked(str(file), OVERSTATES, STEPS)
    found = beside_anyone(ANYONE.format(believed="others_L"), query)
    assert found.verdict == "violated" and cm.replay(found.trace, allow_code=True).outcome is Outcome.BREAKS


@pytest.mark.parametrize("waste", [Waste.COMPOSING, pytest.param(Waste.CONSTANT_RATE, marks=pytest.mark.slow)])
def test_alone_others_are_served_nothing(waste):
    """So that what is more says that one is not."""
    alone = CCAC2021(flows=1, waste=waste, delay=DelayMeasurement.PER_FLOW)
    query = asked(alone, "others_L_f[0][T-1] > 0", STEPS)
    assert cm.verify(query.read_controller(ANYONE.format(believed="others_L")), query).holds


@pytest.mark.parametrize("model", [COMPOSING, CONSTANT, OWN_JITTER])
def test_the_last_byte_waited_for_what_is_believed_at_least(model):
    """And that it waited longer is not said where it may not have."""
    query = asked(model, TOO_LONG.format(">="), 7)
    assert beside_anyone(SAYS, query).holds
    assert beside_anyone(SAYS.replace("2 * step", "step"), query).verdict == "violated"


@pytest.mark.slow
def test_what_is_believed_is_true_in_simulation():
    pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
    found = defined_by("beside_others")["played"](jitter=0, links=50, seed=1)
    assert not found.false and found.told > 0.05


@pytest.mark.slow
def test_what_is_believed_is_no_more_than_what_is_possible():
    """Given all that a flow has seen; and that no more than what is true."""
    finds = defined_by("beside_others_possible")
    for name, row in finds["found"](jitter=0, seed=2).items():
        assert 0 < row["believed"] <= row["possible"] + finds["FINE"], name
        assert row["possible"] <= row["true"], name
