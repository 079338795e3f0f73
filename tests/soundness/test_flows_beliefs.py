"""The paper's beliefs beside other flows: which remain true for every pair of senders, and which do not.

A way to be false is a condition on an execution. It concerns flow 1's observations of its own bytes and the state of
the link.
"""

import pytest
from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Waste

import ccmatic as cm
from ccmatic.answers.verification import Outcome

#: Bytes of flow 1, and of all, that came and were not lost; and what the link has let through.
OWN, ALL, LET = "(A_f[0][{0}] - L_f[0][{0}])", "(A[{0}] - L[{0}])", "(C * ({0}) - W[{0}])"

#: In step t something of flow 1 is served, the last of which waited k steps at least.
WAITED = f"S_f[0][t] > S_f[0][t-1], S_f[0][t] <= {OWN.format('t-k')}"

#: In all steps from D + 1 on it waits longer than jitter explains; and so little is served.
BUSY = f"ALLT(D+1, T, lambda t: And(S_f[0][t] > S_f[0][t-1], S_f[0][t] <= {OWN.format('t-D-1')}))"
LITTLE = "S_f[0][-1] - S_f[0][{0}] < x * C * (T-1 - {0} - D)"

C_L = "ANYT(1, T, lambda t: ANYT(0, t, lambda s: S_f[0][t] - S_f[0][s] > C * (t-s+D)))"
C_U = f"And({BUSY}, {LITTLE.format('D')})"
C_U_LOST = f"And(ALLT(1, T, lambda t: L_f[0][t] > L_f[0][t-1]), {LITTLE.format('1')})"
QDEL_U = (
    f"ANYT(1, T, lambda t: ANYT(0, t, lambda k: And(S_f[0][t] > {OWN.format('t-k-1')}, "
    f"{LET.format('t')} <= {ALL.format('t-k-1')})))"
)


def qdel_l(later):
    """All that came k steps before had been let through when the delay, less D, is said to begin, or `later` steps
    before."""
    let = f"{LET.format(f't-D-{later}')} {'>=' if later else '>'} {ALL.format('t-k')}"
    return f"ANYT(D+1, T, lambda t: ANYT(D+1, t+1, lambda k: And({WAITED}, {let})))"


C_LLAMBDA = (
    f"ANYT(D+2, T, lambda t: ANYT(D+2, t+1, lambda e: And({OWN.format('e')} <= S_f[0][t], ALLT(e, t+1, lambda k: And("
    f"L_f[0][k] == L_f[0][e-1], Not(And(S_f[0][k-1] < {OWN.format('k-D-2')}, S_f[0][k] > S_f[0][k-1])))), "
    "A_f[0][e] - A_f[0][e-1] > C * (D+2))))"
)
Q_U = (
    f"ANYT(2, T-1, lambda t: And({LET.format('t')} <= {ALL.format('t-1')}, "
    f"q_U_f[0][t+1] < {OWN.format('t')} - {OWN.format('t-1')}))"
)
Q_U_BEGINS = "; ".join(f"C_Llambda_f[0][{t}] <= C; q_U_f[0][{t}] >= {OWN.format(t)} - S_f[0][{t}]" for t in range(2))

SENDS = "ALLT(1, T, lambda t: A_f[0][t] > A_f[0][t-1])"
COMPOSING, CONSTANT = "two_flows", "two_flows_constant_rate"


def query(model, what, x="1", buffer="infinite", given=""):
    network = cm.Network(model, buffer, 6, delay="executions", model_name=None if isinstance(model, str) else "alone")
    return cm.Query(network, "avoids", what=what, x=x, given=given)


def alone(model):
    """The same with one flow."""
    waste = Waste.CONSTANT_RATE if model == CONSTANT else Waste.COMPOSING
    return CCAC2021(flows=1, waste=waste, delay=DelayMeasurement.PER_FLOW)


STAYS_TRUE = [
    pytest.param(COMPOSING, C_L, "infinite", id="C_L is at most C"),
    pytest.param(COMPOSING, qdel_l(1), "infinite", id="qdel_L less a step is at most the delay"),
    pytest.param(COMPOSING, QDEL_U, "infinite", id="qdel_U is at least the delay"),
    pytest.param(CONSTANT, C_LLAMBDA, "1", id="C_Llambda is at most C"),
]

TURNS_FALSE = [
    pytest.param("anyone", COMPOSING, C_U, "infinite", "1/1000", SENDS, id="C_U by delay"),
    pytest.param("anyone", COMPOSING, C_U_LOST, "1", "1/1000", SENDS, id="C_U by loss", marks=pytest.mark.slow),
    pytest.param("anyone", COMPOSING, qdel_l(0), "infinite", "1", "", id="qdel_L"),
    pytest.param("cc_probe_slow_sender", CONSTANT, Q_U, "infinite", "1", Q_U_BEGINS, id="q_U"),
]


@pytest.mark.parametrize("model, false, buffer", STAYS_TRUE)
def test_stays_true_where_others_send(model, false, buffer):
    """Whatever both send."""
    for path in (model, alone(model)):
        assert cm.verify("anyone", query(path, false, buffer=buffer)).holds


@pytest.mark.parametrize("sender, model, false, buffer, x, given", TURNS_FALSE)
def test_turns_false_where_others_send(sender, model, false, buffer, x, given):
    """And it is the others that make it false: alone it is true."""
    found = cm.verify([sender, "anyone"], query(model, false, x, buffer, given))
    assert found.verdict == "violated" and cm.replay(found.trace).outcome is Outcome.BREAKS
    assert cm.verify(sender, query(alone(model), false, "1", buffer, given)).holds


#: C_L is not the most of what it was and of what the model of beliefs observes by the step before.
OTHER_C_L = """ANYT(2, T, lambda t: Or(C_L_f[0][t] < C_L_f[0][t-1],
    ANYT(0, t-1, lambda s: C_L_f[0][t] < (S_f[0][t-1] - S_f[0][s]) / (t-1-s+D)),
    And(C_L_f[0][t] > C_L_f[0][t-1], ALLT(0, t-1, lambda s: C_L_f[0][t] != (S_f[0][t-1] - S_f[0][s]) / (t-1-s+D)))))"""

#: The rate is neither cc_qdel's nor a packet an R_m, where that is more, though a delay is known.
OTHER_RATE = f"""ANYT(3, T, lambda t: And(S_f[0][t-1] > S_f[0][t-2], S_f[0][t-1] > {OWN.format(0)}, Not(Or(
    And(S_f[0][t-1] <= {OWN.format("t-2-D")}, Or(r_f[0][t] == C_L_f[0][t] / 2, r_f[0][t] == alpha)),
    And(S_f[0][t-1] > {OWN.format("t-2-D")}, Or(r_f[0][t] == 2 * C_L_f[0][t], r_f[0][t] == alpha))))))"""


@pytest.mark.slow
@pytest.mark.parametrize("other", [OTHER_C_L, OTHER_RATE], ids=["C_L", "rate"])
def test_cc_qdel_that_remembers_does_as_cc_qdel(other):
    """In every execution of six steps, where no sample is of more than four."""
    assert cm.verify("cc_qdel_sender", query(alone(COMPOSING), other)).holds
    wrong = other.replace("C_L_f[0][t] /", "C_L_f[0][t-1] /").replace("t-1-s+D", "t-s+D")
    assert not cm.verify("cc_qdel_sender", query(COMPOSING, wrong)).holds


@pytest.mark.parametrize(
    "sender, believed, more",
    [("cc_qdel_sender", "C_L", ""), ("cc_probe_slow_sender", "C_Llambda", "calm_f[0][4] == 0")],
)
def test_the_rate_that_is_believed_stays_at_most_the_links(sender, believed, more):
    """Where it was so, and nothing was taken for calm, until a controller observes all that it reads."""
    given = f"ALLT(0, 5, lambda t: {believed}_f[0][t] <= C); {more}"
    asked = query(CONSTANT, f"{believed}_f[0][T-1] > C", given=given, buffer="1")
    assert cm.verify([sender, "anyone"], asked).holds
