"""benchmarks/peers/against_the_kernel.py: its simulated senders follow their papers, and it resumes."""

import json
import sys
from functools import cache
from types import SimpleNamespace

import pytest

from support.benchmarks import defined_by
from support.machine import needs_compiler

BDP = 24_000_000 // 8 // 25  # bytes, of 40 ms
MS = 10**6


@cache
def simulated():
    return defined_by("papers")["simulated"]


def alone(name, buffer=BDP, rtt=40 * MS, seconds=8):
    return simulated()(name, 24_000_000, rtt, buffer, seconds, seconds / 3)


@pytest.mark.parametrize("name, least, most", [("vegas", 0.5, 2.5), ("copa", 0.3, 3), ("illinois", 10, 40)])
def test_senders_of_papers_keep_the_queue_that_their_papers_say(name, least, most):
    """Ms: Vegas two to four packets of half a ms each; Copa some 1/delta = 2; Illinois most of it, but after losses."""
    found = alone(name)
    assert found["utilisation"] > 0.95 and least < found["queue_ms"] < most
    assert found["lost"] <= 30


@needs_compiler
def test_an_exported_cubic_loses_next_to_nothing():
    """It lost 20,678 of 36,678 packets where its bounds were exported, and the kernel's 2 of 16,002."""
    found = alone("exported cubic")
    assert found["utilisation"] > 0.95 and found["lost"] < found["packets"] / 200


@needs_compiler
@pytest.mark.parametrize("rtt", [20, 100])
def test_an_exported_bbr_v1_finds_the_rate_of_the_link(rtt):
    assert alone("exported bbr_v1", rtt=rtt * MS, buffer=4 * BDP)["utilisation"] > 0.9


def test_a_cell_of_real_runs_has_the_median_and_the_range_of_the_valid_runs():
    """A real run lost 19 packets, and a repetition 137: one number misleads."""
    text = defined_by("against_the_kernel")["text"]
    measured = [(1.0, 29.4, 19), (0.994, 21, 137), (1.0, 24, 4), (1.0, 30, 20), (1.0, 28, 44)]
    names = ("utilisation", "queue_ms", "lost")
    runs = [dict(zip(names, each, strict=True)) | {"faults": []} for each in measured]
    assert text(runs) == "100 % [99 to 100], 28 ms [21 to 30], 20 [4 to 137]"
    late = [run | {"faults": ["late"]} for run in runs]
    assert text([*runs[:3], *late[3:]]) == "100 % [99 to 100], 24 ms [21 to 29], 19 [4 to 137] (3 of 5 runs valid)"
    assert (text(late), text([])) == ("no valid run", "-")


def test_a_cell_of_the_emulator_is_five_runs_and_a_simulated_cell_is_one():
    definitions = defined_by("against_the_kernel")
    options = {"rate": ["24mbit"], "rtt": ["40ms"], "buffer": ["1bdp"], "sender": ["bbr", "vegas"]}
    asked = [(keys["sender"], keys["run"]) for keys in definitions["requested"](SimpleNamespace(**options))]
    assert asked == [("bbr", 1), ("vegas", 1), *(("bbr", number) for number in (2, 3, 4, 5))]


def test_it_goes_on_from_the_cells_that_are_known(tmp_path, monkeypatch, capsys):
    cell = {"rate": "24mbit", "rtt": "20ms", "buffer": "1/4bdp", "sender": "vegas", "run": 1}
    measured = {"utilisation": 0.125, "queue_ms": 7.0, "lost": 3, "packets": 9}
    (tmp_path / "runs.jsonl").write_text(json.dumps(cell | measured) + "\n")
    options = ["--rate", "24mbit", "--rtt", "20ms", "--buffer", "1/4bdp", "--sender", "vegas", "--sender", "copa"]
    monkeypatch.setattr(sys, "argv", ["against_the_kernel.py", str(tmp_path), *options, "--seconds", "2"])
    defined_by("against_the_kernel")["main"]()
    *_, row = capsys.readouterr().out.splitlines()
    assert row.startswith("| 24mbit 20ms 1/4bdp | 12 %, 7 ms, 3 | 9")
    assert [json.loads(line)["sender"] for line in (tmp_path / "runs.jsonl").open()] == ["vegas", "copa"]
