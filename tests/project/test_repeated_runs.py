"""Real runs differ: benchmarks repeat them, leave out invalid ones, and print the median and the range."""

from types import SimpleNamespace

import pytest

from support.benchmarks import defined_by

REPEATED = defined_by("repeated")
REAL_RUNS = REPEATED["real_runs"]


def run(shares, lost=0):
    """Return the measures of a run in which all flows wait for 5 ms."""
    flows = [measures(share, lost, flow=f"flow {number}") for number, share in enumerate(shares)]
    period = SimpleNamespace(from_seconds=2, until_seconds=8, jain=sum(shares) ** 2 / 2 / sum(x**2 for x in shares))
    return SimpleNamespace(faults=[], flows=flows, shares=[period], **vars(measures(sum(shares), lost)))


def measures(used, lost, **more):
    delay = SimpleNamespace(mean=5.0)
    return SimpleNamespace(utilisation=used, packets=1000, lost=lost, queueing_delay_ms=delay, **more)


@pytest.mark.parametrize("numbers, text", [
    ([19, 137, 4, 20, 44], "20 [4 to 137]"), ([4, 19], "12 [4 to 19]"), ([7, 7, 7], "7"), ([99.96, 100], "100"),
])  # fmt: skip
def test_the_range_is_left_out_only_where_all_numbers_have_one_text(numbers, text):
    assert REAL_RUNS.spread(numbers, ".0f") == text


def test_an_invalid_run_is_attempted_three_times():
    attempts = iter(["late", "", "late", "late", "late", ""])
    kept, note = REAL_RUNS.valid(lambda: SimpleNamespace(faults=next(attempts)), runs=3)
    assert (len(kept), note) == (2, " (2 of 3 runs valid)") and not [*attempts]


def test_five_runs_are_five_lines_of_median_and_range(monkeypatch, capsys):
    """Two flows had 53 and 47 % in one run, and 88 and 12 % in another one."""
    runs = iter([run([0.53, 0.47]), run([0.88, 0.12], lost=10), run([0.66, 0.34])])
    monkeypatch.setitem(REPEATED["main"].__globals__, "measured", lambda options: next(runs))
    monkeypatch.setattr("sys.argv", ["repeated", "--runs", "3", "--flow", "bpf:cc_qdel"])
    REPEATED["main"]()
    assert capsys.readouterr().out.splitlines() == [
        "3 of 3 runs are valid",
        "all flows                 100.0 % of the link; queue 5.0 ms; lost 0.00 % [0.00 to 1.00]",
        "flow 0                    66.0 % of the bytes [53.0 to 88.0]; queue 5.0 ms; lost 0.00 % [0.00 to 1.00]",
        "flow 1                    34.0 % of the bytes [12.0 to 47.0]; queue 5.0 ms; lost 0.00 % [0.00 to 1.00]",
        "2 to 8 s: Jain's index 0.91 [0.63 to 1.00]",
    ]
