"""Drawings: their content for every model, and the error where nothing can be drawn."""

import sys
from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

from ccmatic.base.errors import InputError, Unreadable
from ccmatic.networks.simulation.paths import Path
from ccmatic.networks.simulation.simulator import simulate
from ccmatic.networks.traces import canvas
from ccmatic.networks.traces import drawing as plot
from support.sampling import each_nth

KINDS = {"ideal": 0, "cbr_delay": 1, "ccac": 2}
SERIES = ("sent, $A$", "served, $S$", "link rate, $C$", "sent, $r$", "queue, $(A-L-K)/C$")
BELIEFS = ("at least $C_L$", "at most $C_U$", "at least $Q - D$")


def trace_of(kind, steps=12, buffer=20):
    """A flow at 1.5 C, which fills its buffer of 1 C·R_m and then loses; with beliefs that move."""
    path = Path(kind, 20, jitter=KINDS[kind], buffer=buffer)
    trace = simulate(path, lambda seen: 30, steps, seed=1).trace()
    half = trace.horizon // 2
    bounds = {
        "C_L": (Fraction(1, 3),) * half + (Fraction(1),) * (trace.horizon - half),
        "C_U": (Fraction(8),) * trace.horizon,
    }
    return trace.with_columns(**bounds)


def svg_of(trace, tmp_path):
    plot.draw_trace(trace, tmp_path / "trace.svg")
    return (tmp_path / "trace.svg").read_text()


@pytest.mark.parametrize("kind, suffix", each_nth(4, product(KINDS, (".png", ".svg", ".pdf"))))
def test_draws_every_model_in_every_format(kind, suffix, tmp_path):
    file = tmp_path / f"trace{suffix}"
    plot.draw_trace(trace_of(kind), file)
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    assert file.read_bytes().startswith(starts[suffix])
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("kind", each_nth(3, KINDS))
def test_names_each_series(kind, tmp_path):
    svg = svg_of(trace_of(kind), tmp_path)
    for text in (*SERIES, *BELIEFS, "not lost, $A - L$", "full buffer, $β/C$"):
        assert text in svg
    assert ("tokens, $K$" in svg) == (kind != "ideal")


def test_leaves_out_what_the_trace_has_not(tmp_path):
    trace = trace_of("ccac", buffer=None)
    columns = {name: column for name, column in trace.columns.items() if name not in ("C_L", "C_U")}
    svg = svg_of(replace(trace, columns=columns), tmp_path)
    assert "states no beliefs" in svg
    for text in ("not lost", "at most", "full buffer"):
        assert text not in svg


def test_no_rounding_is_taken_for_a_loss(tmp_path):
    trace = trace_of("ccac", buffer=None)
    sent = tuple(Fraction(t + 1, 3) for t in range(trace.horizon))
    lost = (Fraction(1, 7),) * trace.horizon
    assert "not lost" not in svg_of(trace.with_columns(A=sent, L=lost), tmp_path)


def test_says_what_breaks_and_on_what_path(tmp_path):
    svg = svg_of(replace(trace_of("ccac"), broken=("uses the link", "costs $5 & <more>")), tmp_path)
    assert "A trace of 12 steps, model ccac, buffer 1" in svg
    assert "objectives not met: uses the link; costs $5 &amp; &lt;more&gt;" in svg


def test_a_bound_far_off_is_cut(tmp_path):
    trace = trace_of("ideal")
    far = (Fraction(1234),) * trace.horizon
    assert "at most $C_U$ = 1234" in svg_of(trace.with_columns(C_U=far), tmp_path)


def test_a_delay_past_the_horizon_is_at_least_that(tmp_path):
    trace = trace_of("ideal")
    delay = (Fraction(trace.horizon),) * trace.horizon
    assert f"$Q ≥ {trace.horizon}$" in svg_of(trace.with_columns(Q=delay), tmp_path)


@pytest.mark.parametrize("steps", each_nth(3, [1, 2, 200]))
def test_short_and_long_traces(steps, tmp_path):
    assert f"A trace of {steps} step" in svg_of(trace_of("cbr_delay", steps), tmp_path)


def test_the_same_trace_gives_the_same_file(tmp_path):
    assert svg_of(trace_of("ccac"), tmp_path) == svg_of(trace_of("ccac"), tmp_path)


def test_names_keep_apart_and_inside():
    assert canvas.apart([5, 50], 10, 100) == [5, 50]
    assert canvas.apart([50, 50, 50], 10, 100) == [40, 50, 60]
    assert canvas.apart([0, 1, 99, 100], 10, 100) == [0, 10, 90, 100]


@pytest.mark.parametrize("name", ["trace.gif", "trace", "trace.png.txt"])
def test_another_suffix_is_refused(name, tmp_path):
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf") as caught:
        plot.draw_trace(trace_of("ideal"), tmp_path / name)
    assert caught.value.file == str(tmp_path / name)


@pytest.mark.slow
def test_a_file_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "taken.png").mkdir()
    for path in (tmp_path / "file" / "trace.png", tmp_path / "taken.png"):
        with pytest.raises(Unreadable, match="cannot write"):
            plot.draw_trace(trace_of("ideal"), path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "taken.png"]


@pytest.mark.parametrize("name", ["A", "K", "Q", "r"])
def test_a_trace_without_a_column_is_refused(name, tmp_path):
    trace = trace_of("ideal")
    columns = {key: column for key, column in trace.columns.items() if key != name}
    with pytest.raises(InputError, match=f"it has no {name}$"):
        plot.draw_trace(replace(trace, columns=columns), tmp_path / "trace.png")


@pytest.mark.parametrize("constants", [{"C": 0}, {"R_m": 0}, {"beta": 10**400}])
def test_a_trace_that_makes_no_sense_is_refused(constants, tmp_path):
    trace = trace_of("ideal")
    wrong = {name: Fraction(value) for name, value in constants.items()}
    with pytest.raises(InputError, match="cannot draw the trace"):
        plot.draw_trace(replace(trace, constants={**trace.constants, **wrong}), tmp_path / "trace.png")
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match="pip install matplotlib"):
        plot.draw_trace(trace_of("ideal"), tmp_path / "trace.png")
