"""The solver as the adversary: benchmarks/studies/solver_adversary.py plays executions of the model, and what its
solver finds continues from there."""

import json
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from random import Random

import pytest

from support.sampling import each_nth

pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")

import numpy as np

import ccmatic as cm
from ccmatic.learning import adversaries
from support import ROOT
from support.benchmarks import defined_by
from support.policies import policy

STEPS = 3


@cache
def benchmark():
    found = defined_by("solver_adversary")
    found["play"].__globals__["STEPS"] = STEPS
    return found


def played(name, steps, seed=0):
    """A Stepwise of a controller that goes on at rates that are wanted at random, and now and then at the least."""
    rng, made = Random(seed), benchmark()
    wanted = [Fraction(rng.choice((1, rng.randint(1, 96))), 96) for _ in range(steps)]
    return made["play"](made["begun"](name), wanted)


def keeps_the_budget(G):
    """CCLab's Eq. 8 by itself: of rates from 1 to 96 Mbit/s, 2 in the mean of ten changes."""
    rates = [96 * (after - before) for before, after in pairwise(G)]
    changes = [abs(after - before) for before, after in pairwise(rates)]
    within = all(sum(changes[max(0, t - 9) : t + 1]) <= 20 for t in range(len(changes)))
    return within and all(1 <= rate <= 96 for rate in rates)


@pytest.mark.parametrize("name", each_nth(2, ["cubic_20ms", "vegas", "cc_qdel_sender", "cc_probe_slow_sender"]))
def test_what_is_played_is_an_execution(name):
    """It breaks no law, of the network or of the sender's, in exact arithmetic."""
    sender = played(name, 28)
    trace = benchmark()["recorded"](sender)
    assert cm.replay(trace).outcome.value == "keeps" and keeps_the_budget(trace.columns["G"])
    assert max(sender.columns["A"]) > 2


def test_what_is_not_so_is_no_execution():
    sender = played("vegas", 12)
    sender.columns["S"][-1] -= Fraction(1, 100)
    trace = benchmark()["recorded"](sender)
    assert cm.replay(trace).outcome.value == "cannot be judged"


def test_bytes_wait_as_long_as_they_do_since_the_first_step():
    """A window of few steps does not know how long its initial bytes have waited."""
    play, least = benchmark()["play"], [Fraction(1, 96)]
    begun = play(benchmark()["begun"]("cubic_20ms"), least * 29)
    sender = play(begun, least * 11)
    window = {name: column[30:] for name, column in sender.columns.items()}
    assert max(window["Q"]) > len(window["Q"])
    assert begun.goes_on(window | {"Q": [Fraction(0)] * len(window["Q"])}).columns == sender.columns


@pytest.mark.parametrize("name", ["vegas", pytest.param("cc_probe_slow_sender", marks=pytest.mark.slow)])
def test_the_solver_is_told_all_that_matters(name):
    """Its execution continues from the state, keeps the budget, and is lawful from the first step on.

    No continuation uses less of the link than the solver's lower bound.
    """
    made, sender = benchmark(), played(name, 30)
    worst = made["solved"](sender, Fraction(0), 60)
    assert worst.verdict == "found"
    rng = Random(1)
    assert min(made["at_random"](sender, rng, STEPS).used(30)[0] for _ in range(20)) >= worst.none
    if worst.trace:
        trace = made["whole"](sender, worst.trace)
        assert len(trace.columns["A"]) == len(sender) + STEPS and keeps_the_budget(trace.columns["G"])
        assert cm.replay(trace).outcome.value == "keeps"


@pytest.mark.parametrize(
    "name",
    [
        "solver_adversary",
        "solver_adversary_delayed",
        "solver_adversary_harmed",
        "solver_chained",
        "solver_emulated",
        "solver_objectives",
    ],
)
def test_the_page_has_the_tables(name):
    found = json.loads((ROOT / "results" / "tables" / f"{name}.json").read_text())
    page = (ROOT / "docs" / "reports" / "adversaries.md").read_text("utf-8")
    assert "\n".join(defined_by(f"{name.removesuffix('_delayed').removesuffix('_harmed')}")["table"](found)) in page
    assert name == "solver_objectives" or all(cell["replays"] == "keeps" for cell in found if cell.get("some"))


def test_nothing_is_worse_than_what_the_solver_proves():
    """This includes the other objectives: each adversary's result is within the bound, up to rounding of floats."""
    found = json.loads((ROOT / "results" / "tables" / "solver_objectives.json").read_text())
    compared = [cell for cell in found if cell["of"] != "share"]
    reached = [
        (cell[how], Fraction(cell["none"])) for cell in compared for how in ("random", "genetic", "learned", "alone")
    ]
    assert len(reached) > 20 and all(value <= bound + Fraction(1, 10**9) for value, bound in reached)


def test_a_search_that_timed_out_is_no_bound():
    """A timeout of the search for an execution does not show that none exists."""
    assert defined_by("solver_for_ever")["least"]("3/4", solver=cm.SolverOptions(timeout=0.001)) == 0


@pytest.mark.parametrize("known, used", [("3/4", 1), pytest.param("1/2", Fraction(7, 10), marks=pytest.mark.slow)])
def test_each_step_of_cc_qdel_uses_as_much_once_it_knows_the_link(known, used):
    made = defined_by("solver_for_ever")
    assert made["least"](known) == used
    rng, play, begun = Random(1), benchmark()["play"], benchmark()["begun"]("cc_qdel_sender")
    x = play(begun, [Fraction(1)] * 12 + [Fraction(rng.randint(1, 96), 96) for _ in range(60)]).columns
    since = next(t for t, C_L in enumerate(x["C_L"]) if C_L >= Fraction(known))
    assert since < 12
    for t in range(since + 3, len(x["S"])):
        assert x["S"][t] - x["S"][t - 1] >= used * (x["G"][t] - x["G"][t - 1])


@pytest.mark.slow
def test_a_delay_that_is_asked_for_is_kept():
    made, sender = benchmark(), played("cc_probe_slow_sender", 30)
    free = made["solved"](sender, Fraction(0), 60)
    held = made["solved"](sender, Fraction(3, 10), 60)
    assert free.none <= held.none


@pytest.mark.slow
def test_chained_windows_go_on_from_each_other(tmp_path):
    """Each uses less than the solver says that some do; together they are an execution from the first step on."""
    made, begin, file, found = defined_by("solver_chained"), played("lp", 30), tmp_path / "chained.json", []
    for n in range(2):
        cell = {"controller": "lp", "window": n}
        found.append(cell | made["find"](cell, file, begin, 60))
        file.write_text(json.dumps(found))
    whole = made["chained"]("lp", 2, file, begin)
    trace = made["recorded"](whole)
    assert cm.replay(trace).outcome.value == "keeps" and keeps_the_budget(trace.columns["G"])
    served, offered = (
        [whole.columns[name][end] - whole.columns[name][end - 8] for end in (38, 46)] for name in ("S", "G")
    )
    assert len(whole) == 31 + 16
    for window, some, all_of_it in zip(found, served, offered, strict=True):
        assert Fraction(window["none"]) * all_of_it <= some < Fraction(window["some"]) * all_of_it


def test_what_is_exported_is_what_was_asked_about(tmp_path):
    """The same update and rate, without jitter, and a window that limits nothing."""
    name = "cc_probe_slow_sender"
    export = defined_by("solver_emulated")["ExportedSender"](name, tmp_path).export
    asked = benchmark()["begun"](name).controller
    assert export.jitter == 0 and export.controller.update == asked.update and export.controller.rate == asked.rate
    assert "line_rate * R_m, 3 * C_Llambda + MSS / R_m" in export.controller.source


@pytest.mark.slow
def test_no_policy_uses_less_than_what_is_known_of_its_action(tmp_path):
    """The one that always lowers its rate by all that it can is brought down to it, to the resolution and what a search
    of three rates in a step leaves."""
    made, before = defined_by("searched_adversary"), np.full(12, 48.0)
    for bias in (-100, 100):
        always = [(np.zeros((6, 1)), [bias])]
        policy(tmp_path / "made.json", always, history=1)
        attack = adversaries.make_attack(
            {"target": f"policy:{tmp_path}/made.json"}, {"steps": 40, "budget": 2, "window": 10}
        )
        of, state = made["outcomes"](attack.target.name, attack.options, before)
        every = made["smoothed"](before, np.array([*product((1.0, np.nan, 96.0), repeat=8)]))
        none, least = made["never_below"](attack.target.environment, state), 100 * min(of(every)[0])
        assert 0 < none < least + 0.1
        assert least < none + 4 or bias > -100
