"""Traces of several flows: how they share the link, and a lane for each, in drawings."""

from dataclasses import replace
from fractions import Fraction

import pytest

from ccmatic.base import InputError
from ccmatic.networks.traces import Chart, Lanes, Line, Trace, draw_trace
from ccmatic.networks.traces.canvas import FLOWS, ROLES
from ccmatic.networks.traces.charts import DASHES, Form, Kind
from support import ROOT
from support.cli import run
from support.flows import STEPS, trace_of_flows

STARVED = ROOT / "results" / "gallery" / "starvation" / "copa.json"


def svg_of(trace, tmp_path):
    draw_trace(trace, tmp_path / "trace.svg")
    return (tmp_path / "trace.svg").read_text()


def line(*values, form=Form.HELD):
    return Line("a line", tuple(map(Fraction, values)), "sent", form)


@pytest.mark.parametrize("flows", [1, 2, 3])
def test_draws_any_number_of_flows(flows, tmp_path):
    svg = svg_of(trace_of_flows(flows), tmp_path)
    assert ("Shares of what is served, by flow and step" in svg) == (flows > 1)
    for number in range(1, flows + 1) if flows > 1 else ():
        for text in (f"Flow {number}, doubling: bytes", f"sent, A{number}", f"served, S{number}", f"window{number}"):
            assert text in svg
    assert f"Flow {flows + 1}" not in svg


def test_commands_draw_several_flows(tmp_path):
    code, _, error = run("replay", STARVED, "--plot", tmp_path / "trace.png", cwd=tmp_path)
    assert code == 0, error
    assert (tmp_path / "trace.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("flows", [2, 3])
def test_shares_and_waiting_bytes_add_up(flows):
    trace = trace_of_flows(flows)
    shares, waiting = Lanes.of(trace).shared[:2]
    for t in range(1, STEPS):
        served = sum(trace.columns[f"S{n}"][t] - trace.columns[f"S{n}"][t - 1] for n in range(1, flows + 1))
        assert sum(each.values[t] for each in shares.lines) == served
    for t in range(STEPS):
        inside = sum(trace.columns[f"A{n}"][t] - trace.columns[f"S{n}"][t] for n in range(1, flows + 1))
        assert sum(each.values[t] for each in waiting.lines) == inside == waiting.stacked()[-1].values[t]
    assert sum(float(each.label.split("(")[1].split()[0]) for each in shares.lines) == pytest.approx(100, abs=0.2)


def test_a_lane_has_what_its_sender_remembers_by_unit():
    lanes = Lanes.of(trace_of_flows(2))
    assert [lane.title for lane in lanes.each] == ["Flow 1, doubling", "Flow 2, doubling"]
    bytes_, window = lanes.each[1].charts
    assert [each.label for each in window.lines] == ["window, cwnd2", "window2"] and window.unit == "C·R_m"
    assert [each.label for each in bytes_.lines] == ["sent, A2", "served, S2"]  # nothing is lost


def test_units_are_those_of_the_path():
    trace = trace_of_flows(2)
    scaled = {
        name: tuple(value * 24 for value in column) for name, column in trace.columns.items() if name[0] not in "rQ"
    }
    constants = {**trace.constants, "C": Fraction(12), "R_m": Fraction(2)}
    rates = {f"r{n}": tuple(value * 12 for value in trace.columns[f"r{n}"]) for n in (1, 2)}
    assert Lanes.of(replace(trace, columns={**scaled, **rates}, constants=constants)).each == Lanes.of(trace).each


def test_a_trace_whose_controller_cannot_be_read_is_drawn(tmp_path):
    svg = svg_of(trace_of_flows(2, controller="def rate(): nonsense", name=None), tmp_path)
    assert "Flow 2: bytes" in svg and "window2" in svg


def test_a_name_is_no_formula(tmp_path):
    trace = trace_of_flows(2, name=r"a$\frac$b")
    named = trace.with_columns(**{r"W$\frac$": trace.columns["A1"]})
    svg = svg_of(named, tmp_path)
    assert r"Flow 1, a$\frac$b: bytes" in svg.replace(r"\$", "$") and r"W$\frac$" in svg.replace(r"\$", "$")


@pytest.mark.parametrize("name", ["A1", "S2", "cwnd2"])
def test_a_trace_without_a_column_is_refused(name, tmp_path):
    trace = trace_of_flows(2)
    columns = {key: column for key, column in trace.columns.items() if key != name}
    with pytest.raises(InputError, match=f"it has no {name}$"):
        draw_trace(replace(trace, columns=columns), tmp_path / "trace.png")


def test_a_number_that_is_too_large_is_refused(tmp_path):
    trace = trace_of_flows(2).with_columns(W=(Fraction(0), *(Fraction(10) ** 400,) * (STEPS - 1)))
    with pytest.raises(InputError, match="a number above 1e308"):
        draw_trace(trace, tmp_path / "trace.png")


def test_lines_that_coincide_have_other_ranks():
    chart = Chart("Bytes", "C·R_m", (line(1, 2, 3), line(1, 2, 9), line(5, 6, 7), line(1, 2, 4), line(1, 2, 3)))
    assert chart.ranks() == [0, 1, 0, 2, 3]
    crossing = Chart("Bytes", "C·R_m", (line(0, 5, 10), line(10, 5, 0)))
    assert crossing.ranks() == [0, 0]


def test_patterns_of_all_ranks_can_be_seen():
    """Along a line that four lines share, the one on top at each place: each is on top somewhere."""
    on_top = set()
    for place in range(12):
        covering = [
            rank for rank, dash in enumerate(DASHES) if dash is None or (place + dash[0]) % sum(dash[1]) < dash[1][0]
        ]
        on_top.add(max(covering))
    assert on_top == set(range(len(DASHES)))


def test_a_stack_leaves_out_what_has_no_area():
    chart = Chart("Waits", "C·R_m", (line(0, 1, 0, form=Form.POINTS), line(0, 0, 0, form=Form.POINTS)), Kind.STACK)
    first, second = chart.stacked()
    low, high = [0.0] * 3, [float(value) for value in first.values]
    assert [t for t, _, _ in first.areas(low, high)] == [1, 2]
    assert not list(second.areas(high, [float(value) for value in second.values]))


def test_flows_have_colours_of_their_own():
    roles = [line.role for line in Lanes.of(trace_of_flows(8)).shared[0].lines]
    assert len({ROLES[role] for role in roles}) == len(FLOWS) == 8


def test_a_trace_keeps_its_controllers_name():
    trace = trace_of_flows(2)
    assert Trace.from_json(trace.to_json()) == trace and trace.controller_name == "doubling"
    assert Trace.load(STARVED).controller_name is None and "controller_name" not in Trace.load(STARVED).to_json()
