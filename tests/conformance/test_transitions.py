"""Transition systems beside executions: each step of an execution is a step of the system, and, within stated limits,
each path of the system is an execution (tests/transitions). `python -m tests.transitions` compares more executions."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

import pytest

from ccmatic.answers.verification.replayer import sender_laws
from ccmatic.logic import Environment, equal, every, no
from ccmatic.logic.solving import SAT, UNSAT, Checker
from ccmatic.networks.traces import Trace
from ccmatic.proving.invariants import Claim
from ccmatic.proving.invariants.forms import Replaced
from ccmatic.proving.invariants.lasting import Window
from ccmatic.proving.invariants.transition import derive
from support.sampling import each_nth
from transitions.campaign import campaign, claims_alone
from transitions.lines import proved_lines
from transitions.relation import relation_of
from transitions.rows import ORACLE, ROWS
from transitions.runs import Choices, Subject, run

rows = pytest.mark.parametrize("row", ROWS, ids=str)


@rows
def test_each_step_of_a_run_is_a_step_of_the_system_and_no_run_breaks_a_proved_claim(row):
    found = campaign(row, 30)
    assert not found.broken
    assert found.steps > 6 * 30 and found.random == 15 and found.adversarial >= 15 * len(row.claims)


@pytest.mark.slow
@rows
def test_ten_thousand_runs_are_of_the_system_and_break_no_proved_claim(row):
    assert not campaign(row, 10_000).broken


@rows
def test_the_runs_are_executions_of_the_model(row):
    """So a run that a transition system refused would be one that the laws allow."""
    subject, looked = Subject.of(row), 0
    for seed in range(12):
        made = run(row, subject, Choices.drawn(seed), informed=seed % 2 == 0)
        if made is not None:
            looked += 1
            assert not _broken_laws(row, made)
    assert looked >= 3


def _broken_laws(row, made):
    T, columns = made.steps, {name: tuple(column) for name, column in made.columns.items()}
    query = row.query(T).on(delay="executions")
    controller = query.controller(row.controller)
    if row.by_window:
        waits = [T if wait is None else wait if wait < T else min(wait + 1, 2 * T + 1) for wait in columns["Q"]]
    else:
        waits = [0 if wait is None else min(wait, T) for wait in columns["Q"]]
        columns["qdel_L"] = tuple(min(value, Fraction(T - row.D)) for value in columns["qdel_L"])
    columns["Q"] = tuple(map(Fraction, waits))
    constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(row.D), "MSS": made.packet}
    constants |= {"tokens_at_first": Fraction(0)} | ({} if made.buffer is None else {"beta": made.buffer})
    trace = Trace(T, constants, columns, query.record(), controller.source)
    read = {"C_L", "qdel_L"} & set(controller.parameters)
    x = query.observed(trace, read, controller.state)
    laws = [*query.laws(x), *query.model.belief_laws(x, read), *sender_laws(x, controller)]
    return [str(law) for law in laws if law.formula is not True]


def test_runs_of_another_network_are_missed():
    """The comparison can fail: a run with more jitter has steps that the system lacks."""
    row = ROWS[0]
    assert campaign(replace(row, D=2, claims=()), 30, relation=relation_of(row)).broken


@pytest.mark.parametrize(
    "number, claim",
    [
        (0, Claim("queue", "<=", Fraction(5))),
        (0, Claim("utilisation", ">=", Fraction(3, 4), Fraction(1, 2))),
        (3, Claim("window", "<=", Fraction(3))),
    ],
)
def test_a_claim_that_is_too_good_is_broken(number, claim):
    assert claims_alone(replace(ROWS[number], claims=(claim,)), 200).broken


def test_the_claims_of_the_tables_proved_lines_are_compared_with_executions(tmp_path):
    infinite = "ccac, buffer infinite, jitter 1 rtt"
    lines = [
        ("cc_qdel", infinite, "", "queue <= 7 bdp", "proved"),
        ("cc_qdel", infinite, "", "queue <= 5 bdp", "proved"),  # a lie
        ("cc_qdel", infinite, "", "queue <= 4 bdp", "unknown"),
        ("g6_1", "cbr_delay, buffer infinite, jitter 1 rtt", "", "queue <= 7 bdp", "proved"),
        (
            "aimd_each_step",
            f"{ORACLE}, buffer 1 bdp",
            "1/20 <= alpha <= 1/10",
            "window <= 3.1 bdp",
            "proved",
        ),
    ]
    table = tmp_path / "invariants.jsonl"
    names = ("name", "on", "given", "expect", "verdict")
    table.write_text("\n".join(json.dumps(dict(zip(names, line, strict=True))) for line in lines))
    rows = proved_lines(table)
    assert [len(row.claims) for row in rows] == [2, 1, 1]
    counted = [claims_alone(row, 200) for row in rows]
    assert all(each.random == 100 and each.adversarial >= 100 for each in counted)
    assert counted[0].broken and all("queue <= 5" in each for each in counted[0].broken)
    assert not counted[1].broken and not counted[2].broken


#: The rows without measured delays. Their systems relate all unknowns of an execution.
WITHOUT_DELAYS = [row for row in ROWS if not any(name.startswith("Q_") for name in row.relaxed)]


@pytest.mark.parametrize("row, steps", each_nth(3, product(WITHOUT_DELAYS, (3, 4, 5))), ids=str)
def test_steps_of_the_system_obey_all_laws_but_those_that_it_relaxes(row, steps):
    """The converse, by solver: paths of the system are executions, except for laws that the report names."""
    with Environment():
        window, checker = _paths(row, steps)
        broken = set()
        for law in window.laws:
            checker.push()
            checker.add(no(law.formula))
            if checker.check() != UNSAT:
                broken.add(law.name)
            checker.pop()
        assert broken <= row.relaxed


def test_a_system_without_one_of_its_laws_has_paths_that_are_no_executions():
    with Environment():
        window, checker = _paths(ROWS[3], 3, without="served_within_jitter")
        checker.add(no(every([law.formula for law in window.laws if law.name == "served_within_jitter"])))
        assert checker.check() == SAT


def _paths(row, steps, without=""):
    """Return a window of so many steps after the first state, and a solver that has all paths of the system."""
    query = row.query()
    controller = query.controller(row.controller)
    system = derive(query, controller, (without,) if without else ())
    window = Window(query, controller, system.now + steps, system.now + 1)
    checker = Checker()
    for condition in system.first:
        checker.add(condition)
    for begin in range(window.x.horizon - system.x.horizon + 1):
        later = Replaced(window.later(list(system.lasting), begin))
        for condition in system.lasting:
            checker.add(later.condition(condition))
    return window, checker


@pytest.mark.parametrize("row", [row for row in ROWS if row not in WITHOUT_DELAYS], ids=str)
def test_random_paths_of_the_system_are_executions_of_the_network(row):
    """The converse for measured delays: the bytes of a random path, with delays to match, obey the network's laws."""
    with Environment():
        window, checker = _paths(row, 5)
        for seed in range(6):
            checker.push()
            bytes_ = _walk(window.x, checker, Random(seed))
            checker.pop()
            assert _fits(row, window, bytes_)
            *others, A, S, tokens = bytes_
            assert not _fits(row, window, [*others, A, tokens, (S[0], A[1] + 1)])  # more bytes served than sent


def _fits(row, window, numbers):
    """Return whether the network has an execution with some numbers."""
    checker = Checker()
    for law in row.query().model.laws(window.x):
        checker.add(law.formula)
    checker.add(every([equal(term, number) for term, number in numbers]))
    return checker.check() == SAT


def _walk(x, checker, rng):
    """Add random preferences to a solver of paths, and return the bytes of a path as pairs (term, number)."""
    columns = [x.A, x.S, x.K if not x.windows else x.own["W"]]
    for t in range(1, x.horizon):
        for column in columns:
            checker.push()
            checker.add(column[t] - column[t - 1] >= Fraction(rng.randint(0, 8), 4))
            if checker.check() != SAT:
                checker.pop()
    assert checker.check() == SAT
    return [(column[t], checker.value(column[t])) for t in range(x.horizon) for column in columns]
