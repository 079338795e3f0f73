"""Each flow with jitter of its own: delay-convergent controllers starve, for ever, however small the share."""

from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.answers.verification import check_trace
from ccmatic.questions import query as queries
from support import ROOT
from support.sampling import each_nth

OWN = "two_flows_own_jitter"


def network(horizon, model=OWN):
    return cm.Network(model, "infinite", horizon, delay="executions")


def unrolled(trace, period, times=5):
    """Return the trace extended by repetitions of its last period."""
    asked = queries.from_record(trace.query).on(horizon=trace.horizon + times * period)
    columns, end = {}, trace.horizon - 1
    for name, column in trace.columns.items():
        longer, grown = list(column), column[end] - column[end - period]
        for t in range(trace.horizon, asked.horizon):
            longer.append(longer[t - period] + grown)
        columns[name] = tuple(longer)
    return asked, cm.Trace(asked.horizon, trace.constants, columns, asked.record(), trace.controller)


STARVATION = ROOT / "results" / "gallery" / "starvation"


@pytest.mark.parametrize(
    "name, x",
    each_nth(
        5,
        [
            ("vegas_400", "1/40"),
            ("copa", "1/1000"),
            ("vegas", "1/1000"),
            ("copa_exported_100", "1/20"),
            ("copa_exported_400", "1/100"),
        ],
    ),
)
def test_a_flow_starves_for_ever(name, x):
    """By exact arithmetic; the trace goes on, and is replayed again."""
    trace = cm.Trace.load(STARVATION / f"{name}.json")
    asked = queries.from_record(trace.query)
    assert not cm.replay(trace).faults and asked.property.x == Fraction(x)
    period = int(asked.property.repeats)
    longer, again = unrolled(trace, period)
    assert not check_trace(longer, again).faults
    first, second = (again.columns[name][-1] - again.columns[name][0] for name in ("S1", "S2"))
    assert min(first, second) < (first + second) * Fraction(x)


@pytest.mark.parametrize("held, is_so", [(">", False), ("==", True)])
def test_a_flow_may_be_held_for_D_and_no_longer_while_the_other_is_not(held, is_so):
    what = f"And(K1[T-1-D] - S_f[0][T-1] {held} 0, K1[T-1] > K1[T-1-D], K2[T-1] == S_f[1][T-1], K2[T-1] > K2[T-2])"
    assert cm.verify("anyone", cm.Query(network(3), "avoids", what=what)).holds is not is_so


def test_the_link_lets_bytes_through_in_order():
    overtakes = "ANYT(1, T, lambda t: And(K1[t] + K2[t] <= A[t-1] - L[t-1], K1[t] > A_f[0][t-1] - L_f[0][t-1]))"
    assert cm.verify("anyone", cm.Query(network(4), "avoids", what=overtakes)).holds


def test_jitter_of_its_own_needs_a_link_of_constant_rate(tmp_path):
    file = tmp_path / "own.py"
    file.write_text(
        "from ccmatic.models.ccac2021 import CCAC2021, JitterBox\n\n"
        "MODEL = CCAC2021(flows=2, jitter=JitterBox.PER_FLOW)\n"
    )
    with pytest.raises(cm.InputError, match="each flow has jitter of its own where waste is Waste.COMPOSING"):
        network(4, str(file))
