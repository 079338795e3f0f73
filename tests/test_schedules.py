"""What is written of a schedule is what is read; beliefs that are true in the trace are true in its schedule."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic.trace_export import Scale, Schedule, export
from ccmatic.traces import Trace

DRAIN = Trace.load(Path(__file__).parent.parent / "docs" / "gallery" / "late_drain.json")

NUMBERS, NAMES = st.integers(0, 10**9), st.from_regex("[A-Za-z]_[A-Za-z]{1,9}", fullmatch=True)
LOW, HIGH = st.fractions(Fraction(1, 3), 1, max_denominator=97), st.fractions(1, 3, max_denominator=97)


@st.composite
def schedules(draw):
    """Any schedule."""
    points, now = [(0, draw(NUMBERS), 0)], (0, 0, 0)
    for _ in range(draw(st.integers(0, 5))):
        time, more, served = draw(st.tuples(st.integers(1, 10**9), NUMBERS, NUMBERS))
        now = points[-1]
        points.append((now[0] + time, now[1] + more, min(now[2] + served, now[1] + more)))
    return Schedule(
        rate=draw(st.fractions(min_value=Fraction(1, 10**6), max_value=10**12, max_denominator=10**6)),
        step=draw(st.integers(1, 10**12)),
        packet=draw(st.integers(576, 65535)),
        buffer=draw(st.none() | st.integers(1, 10**15)),
        queue=draw(NUMBERS),
        points=tuple(points),
        lost=draw(NUMBERS),
        beliefs=draw(st.dictionaries(NAMES, st.integers(0, 2**63 - 1))),
    )


@given(schedules())
@settings(derandomize=True, max_examples=100, deadline=None)
def test_what_is_written_is_read(tmp_path_factory, schedule):
    file = tmp_path_factory.getbasetemp() / "schedule.csv"
    file.write_text(schedule.text())
    assert Schedule.load(file) == schedule


@given(LOW, HIGH, st.integers(1500, 10**6))
@settings(derandomize=True, max_examples=60, deadline=None)
def test_beliefs_stay_true(tmp_path_factory, low, high, bdp):
    """C_U was rounded down, so that a schedule could begin with one below C."""
    columns = DRAIN.columns | {"C_L": (low,) * DRAIN.horizon, "C_U": (high,) * DRAIN.horizon}
    content, _ = export(replace(DRAIN, columns=columns), "schedule", Scale(Fraction(bdp), Fraction(1), 1500))
    file = tmp_path_factory.getbasetemp() / "schedule.csv"
    file.write_bytes(content)
    kept = Schedule.load(file).beliefs
    assert low * bdp - 1 < kept["C_L"] <= low * bdp and high * bdp <= kept["C_U"] < high * bdp + 1
