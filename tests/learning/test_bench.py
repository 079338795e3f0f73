"""The benchmark: its file, its measures, and players of every kind."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import numpy as np
import pytest

pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")

import ccmatic as cm
from ccmatic import records
from ccmatic.base import InputError
from ccmatic.learning import bench
from support.cli import lines, run

TINY = """\
name = "tiny"
seed = 7
links = 4
baselines = ["oracle", "constant:8"]

[every]
rate = 8
rtt = 32
buffer_bdp = 1
first = 0.5
steps = 40

[suites.alone]

[suites.shared]
beside = ["constant:4"]
"""


@pytest.fixture
def tiny(tmp_path):
    """The file of a small benchmark."""
    (tmp_path / "tiny.toml").write_text(TINY)
    return tmp_path / "tiny.toml"


def test_the_shipped_benchmark_has_eight_suites_of_valid_links():
    benchmark = bench.load()
    assert benchmark.name == "ccmatic-bench-v1" and len(benchmark.suites) == 8
    assert all(suite.link_options.longest for suite in benchmark.suites.values())


def test_baselines_play_and_the_leaderboard_grows(tiny):
    code, out, error = run("bench", "--file", tiny, "--out", "board.jsonl", "--json", cwd=tiny.parent)
    assert code == 0, error
    made = lines(out)
    assert [(line["player"], line["suite"]) for line in made] == [
        ("oracle", "alone"), ("oracle", "shared"), ("constant:8", "alone"), ("constant:8", "shared"),
    ]  # fmt: skip
    oracle, shared, constant, crowded = made
    assert oracle["utilisation"] > 0.9 and oracle["queue_rtt"] < 0.1 and oracle["loss"] == 0
    assert shared["utilisation"] == pytest.approx(1, abs=0.1) and crowded["queue_rtt"] > 0.5 and crowded["loss"] > 0.1
    assert constant["score_ci"] >= 0 and lines((tiny.parent / "board.jsonl").read_text()) == made
    run("bench", "oracle", "--suite", "alone", "--file", tiny, "--out", "board.jsonl", cwd=tiny.parent)
    assert len(lines((tiny.parent / "board.jsonl").read_text())) == 5


@pytest.mark.parametrize("board, message", [
    ("board.jsonl", "board.jsonl:1: "),
    (".", ""),
    ("none/board.jsonl", "there is no such folder to write to"),
])  # fmt: skip
def test_what_is_no_leaderboard_is_refused_before_anybody_plays(board, message, tiny):
    (tiny.parent / "board.jsonl").write_text('{"player": "forged"}\n')
    code, out, error = run("bench", "oracle", "--file", tiny, "--out", board, cwd=tiny.parent)
    assert (code, out) == (2, "") and message in error
    assert (tiny.parent / "board.jsonl").read_text() == '{"player": "forged"}\n'


def test_a_player_that_does_not_exist_is_refused_before_anybody_plays(tiny):
    code, out, error = run("bench", "oracle", "orcale", "--file", tiny, "--out", "new.jsonl", cwd=tiny.parent)
    assert (code, out) == (2, "") and "orcale" in error and not (tiny.parent / "new.jsonl").exists()


def test_a_line_of_a_leaderboard_is_an_object(tiny):
    (tiny.parent / "board.jsonl").write_text("3\n")
    code, out, error = run("bench", "oracle", "--file", tiny, "--out", "board.jsonl", cwd=tiny.parent)
    assert (code, out) == (2, "") and "board.jsonl:1: no line of a leaderboard" in error


def test_a_leaderboard_whose_last_line_has_no_end_keeps_it(tiny):
    board = tiny.parent / "board.jsonl"
    for _ in range(2):
        run("bench", "oracle", "--suite", "alone", "--file", tiny, "--out", board)
        board.write_text(board.read_text().rstrip("\n"))
    assert len(lines(board.read_text())) == 2


def test_a_learner_in_python_measures_as_the_same_player_by_name(tiny):
    """The lowest rate of an envelope, and a rate that does not change, as functions of observations."""
    low = bench.Learner("mine", lambda seen: np.full(len(seen), -1.0), {"act": "envelope:cc_qdel_wide"})
    mine, same = cm.bench([low, "envelope:cc_qdel_wide:low"], ["alone"], file=tiny)
    assert records.data(mine) | {"player": ""} == pytest.approx(records.data(same) | {"player": ""}, abs=2e-3)
    sizes = []
    still = bench.Learner("still", lambda seen: sizes.append(seen.shape) or np.zeros(len(seen)), {"observe": "orca"})
    [line] = cm.bench([still], ["alone"], file=tiny)
    assert set(sizes) == {(4, 50)} and line.utilisation == pytest.approx(0.5, abs=0.05)


def test_a_guard_limits_the_rates_of_a_sender(tiny):
    guarded, free = cm.bench(["guard:cc_qdel_wide:constant:64", "constant:64"], ["alone"], file=tiny)
    assert free.loss > 0.8 and guarded.loss < 0.5


@pytest.mark.parametrize("players, suites, message", [
    (["nobody"], [], "nobody"),
    (["envelope:cc_qdel_wide:middle"], [], "expected envelope:NAME:low or envelope:NAME:high"),
    (["guard:cc_qdel_wide"], [], "expected guard:NAME:SENDER"),
    (["oracle"], ["alonee"], "unknown suite 'alonee'; did you mean 'alone'?"),
    ([bench.Learner("none", lambda seen: np.full(len(seen), np.nan))], ["alone"], "an action of none is not finite"),
    ([bench.Learner("three", lambda seen: [1, 2, 3])], ["alone"], "three decides [1, 2, 3]; expected an array of 4"),
    ([bench.Learner("no", lambda seen: None)], ["alone"], "no decides None; expected an array of 4 actions"),
    ([bench.Learner("fast", lambda seen: seen, {"rate": 8})], ["alone"], "unknown option 'rate' in the task of fast"),
])  # fmt: skip
def test_wrong_players_and_suites_are_refused(players, suites, message, tiny):
    with pytest.raises(InputError) as error:
        list(cm.bench(players, suites, file=tiny))
    assert message in str(error.value)


@pytest.mark.parametrize("old, new, message", [
    ("links = 4", "links = 1", "links is below 2"),
    ("seed = 7", 'seed = "7"', "seed is '7'; expected a value of the type int"),
    ("rtt = 32", "rt = 32", "unknown option 'rt' of the suite alone; did you mean 'rtt'?"),
    ("rtt = 32", "flows = 2", "unknown option 'flows' of the suite alone"),
    ("name =", "nam =", "unknown key 'nam'; did you mean 'name'?"),
])  # fmt: skip
def test_wrong_files_are_refused(old, new, message, tiny):
    tiny.write_text(TINY.replace(old, new))
    with pytest.raises(InputError) as error:
        bench.load(tiny)
    assert message in str(error.value)
