"""Threads ask at once what one alone asks: the same verdicts, the same traces, and each trace replays."""

from concurrent.futures import ThreadPoolExecutor
from itertools import zip_longest

import pysmt.environment
import pytest

import ccmatic as cm
from ccmatic.logic import Environment, isolated, isolated_steps, real
from support import own_columns

QUESTIONS = [
    ("cc_qdel", "ccac", "infinite", 5),
    ("always_half", "ccac", "any", 4),
    ("midpoint", "ideal", "1", 5),
    ("always_c_u", "cbr_delay", "1/2", 4),
]


def ask(question):
    name, model, buffer, horizon = question
    verdict = cm.verify(name, cm.Query(cm.Network(model, buffer, horizon)))
    for trace in (verdict.trace, verdict.unmodelled):
        assert trace is None or cm.replay(trace).outcome.value == "breaks"
    return verdict.verdict, verdict.trace, verdict.unmodelled


@pytest.mark.parametrize("threads", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_threads_find_what_one_alone_finds(threads):
    alone = {question: ask(question) for question in QUESTIONS}
    assert len({verdict for verdict, *_ in alone.values()}) > 1
    turns = [QUESTIONS[turn:] + QUESTIONS[:turn] for turn in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        for turn, found in zip(turns, pool.map(lambda turn: [ask(each) for each in turn], turns), strict=True):
            assert dict(zip(turn, found, strict=True)) == alone


def test_two_searches_may_take_turns():
    network = cm.Network("ccac", "infinite", 4)
    alone = [len(cm.synthesise(cm.Query(network, template="two_branches")).solutions) for _ in range(2)]
    one, other = (iter(cm.synthesise(cm.Query(network, template="two_branches"))) for _ in range(2))
    # They share what is known about branches, so one may need fewer steps than the other.
    *_, ends = zip_longest(one, other)
    assert alone[0] == alone[1] == max(end.solutions for end in ends if end)


def own_violation():
    """A trace of a model of one's own, whose definitions replay puts to unknowns, too."""
    network = cm.Network(own_columns.__file__, "infinite", 5)
    return cm.verify("def rate(C_L):\n    return C_L\n", cm.Query(network)).trace


CALLS = {
    "verify": lambda: cm.verify(QUESTIONS[1][0], cm.Query(cm.Network(*QUESTIONS[1][1:]))).verdict == "violated",
    "replay": lambda: ask(QUESTIONS[1])[0] == "violated",
    "replay of one's own": lambda: cm.replay(own_violation(), allow_code=True).outcome.value == "breaks",
    "shape": lambda: cm.load_controller("cc_qdel").shape() is not None,
    "isolated": lambda: isolated(real)("of nobody else").coefficients,
}


@pytest.mark.parametrize("call", CALLS)
def test_a_call_leaves_no_formulas_behind(call):
    shared = pysmt.environment.get_env()
    before = len(shared.formula_manager.formulae)
    assert CALLS[call]()
    assert pysmt.environment.get_env() is shared and len(shared.formula_manager.formulae) == before


def test_an_environment_is_its_threads_alone():
    with Environment(), ThreadPoolExecutor(1) as pool:
        (inside,) = real("a").coefficients
        (outside,) = pool.submit(lambda: real("a").coefficients).result()
        assert inside is not outside
        assert [*real("a").coefficients] == [inside]


def test_between_two_steps_the_environment_is_the_callers():
    shared = pysmt.environment.get_env()
    seen = []
    for _ in isolated_steps(seen.append(pysmt.environment.get_env()) for _ in range(2)):
        assert pysmt.environment.get_env() is shared
    assert seen[0] is seen[1] is not shared
