"""A schedule that is written is read back unchanged. Beliefs that are true in the trace are true in its schedule."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic.deployment.emulation import link
from ccmatic.networks.trace_export import Scale, Schedule, export
from ccmatic.networks.traces import Trace
from support import ROOT
from support.emulations import again, in_time

DRAIN = Trace.load(ROOT / "results" / "gallery" / "late_drain.json")

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


@given(schedules())
@settings(derandomize=True, max_examples=100, deadline=None)
def test_the_jitter_is_how_long_the_curves_hold_a_byte(schedule):
    """The test follows bytes at and next to each point of the curves."""

    def reached(column, level):
        times, values = [each[0] for each in schedule.points], [each[column] for each in schedule.points]
        if values[0] >= level:
            return Fraction(0)
        if values[-1] < level:
            return times[-1] + (level - values[-1]) * 10**9 / schedule.rate
        n = next(n for n, value in enumerate(values) if value >= level)
        share = (level - values[n - 1]) / Fraction(values[n] - values[n - 1])
        return times[n - 1] + share * (times[n] - times[n - 1])

    near = Fraction(1, 10**9)
    levels = [level + off for _, *point in schedule.points for level in point for off in (-near, 0, near)]
    held = max(reached(2, level) - reached(1, level) for level in levels)
    slack = 2 + near * 10**9 / schedule.rate * 2 + near * 10**10
    assert held - 1 <= schedule.jitter <= held + slack
    assert schedule.jitter >= 0


def test_the_schedule_of_a_trace_holds_bytes_for_its_jitter_at_most(tmp_path):
    """An emulated schedule was not valid, as the least D that was found was compared with R_m alone."""
    file = tmp_path / "schedule.csv"
    file.write_bytes(export(DRAIN, "schedule", Scale(Fraction(3_000_000), Fraction(1, 25), 1500))[0])
    asked = link.of_schedule(file)
    assert asked.schedule.jitter == asked.rtt == 40_000_000
    run = in_time(asked, ("udp:late_drain",), [(0, 0)] * 700)
    run.log["released"][-1] += 400_000
    assert run.jitter > asked.rtt and again(run).faults == []
    run.log["released"][-1] += asked.rtt
    assert any("R_m + D asked are 80 ms" in fault for fault in again(run).faults)
