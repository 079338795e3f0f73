"""Certificates: found for what has no solution and only for that, and rejected as soon as they prove less."""

import json
from copy import deepcopy
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pysmt.shortcuts import LE, Int, Ite, Real, Symbol, Times
from pysmt.typing import INT, REAL

from ccmatic import controllers as cca
from ccmatic.answers.verification.verifier import Verifier
from ccmatic.base import definitions
from ccmatic.base.errors import InputError
from ccmatic.logic.certificates.check import check_certificate as check
from ccmatic.logic.certificates.clauses import Clauses
from ccmatic.logic.certificates.search import _Theory, certify
from ccmatic.logic.solving.solver import SAT, Checker
from ccmatic.logic.terms import Condition, Linear, boolean, choice, constant, equal, every, iff, implies, no, real, some
from ccmatic.questions import query
from support.sampling import each_nth

X, Y, Z = map(real, "xyz")
P, Q = map(boolean, "pq")
# Refuted by two lemmas, both needed, and a step.
SPLIT = [some(X + Y < 0, X - Y > 10), some(P, Y < 3), some(no(P), Y < 3), Y > 2, X + Y >= 1, X <= 9]


def certified(formulas):
    """The certificate after a journey through a file, once it is seen to pass its check."""
    certificate = json.loads(json.dumps(certify(formulas)))
    assert check(formulas, certificate).fault is None
    return certificate


def questions(model, buffer, horizon, controller):
    asked = query.make(model, buffer, horizon, thresholds={"constrain_loss": "always"})
    loaded = cca.load(definitions.find_file(definitions.CONTROLLERS, controller, ".py"), asked.units())
    return Verifier(asked, loaded.parameters).questions(loaded)


@pytest.fixture(scope="module")
def real_question():
    formulas = questions("ccac", "infinite", 7, "cc_qdel")["no progress"]
    return formulas, certified(formulas)


# What is certified.


@pytest.mark.parametrize(
    ("model", "buffer", "horizon", "controller"),
    each_nth(
        4,
        [
            ("ccac", "infinite", 6, "cc_qdel"),
            ("ideal", ">=3", 5, "cc_probe_drain"),
            ("cbr_delay", "infinite", 5, "g1_t11_3"),
            ("ideal", ">=3", 3, "cc_qdel_wide"),
        ],
    ),
)
def test_every_way_to_fail_of_a_controller_that_holds_is_ruled_out(model, buffer, horizon, controller):
    asked = questions(model, buffer, horizon, controller)
    assert set(asked) >= {"beliefs turn false", "no progress"}
    for formulas in asked.values():
        certified(formulas)


def test_a_controller_that_fails_has_no_certificate():
    asked = questions("ccac", "infinite", 5, "cc_qdel")
    assert certify(asked["no progress"]) is None
    certified(asked["beliefs turn false"])


def test_choices_nested_in_each_other_and_of_truth_values():
    largest = choice(X >= Y, choice(X >= Z, X, Z), choice(Y >= Z, Y, Z))
    certified([largest < Y])
    certified([largest + choice(P, X, Y) < 2 * X, X <= Y])
    certified([Condition(Ite(P.node, Q.node, no(Q).node)), no(iff(P, Q))])
    assert certify([largest <= Y]) is None


def test_truth_values_alone_decide():
    certified([constant(False)])
    certified([P, no(P)])
    certified([X <= Y, iff(P, constant(False)), P])
    assert certify([]) is None
    assert certify([constant(True)]) is None


NUMBERS = st.integers(-3, 3)
TERMS = st.builds(lambda a, b, c, d: a * X + b * Y + c * Z + d * Fraction(1, 2), NUMBERS, NUMBERS, NUMBERS, NUMBERS)
COMPARISONS = st.one_of(
    st.builds(lambda left, right: left <= right, TERMS, TERMS),
    st.builds(lambda left, right: left < right, TERMS, TERMS),
    st.builds(equal, TERMS, TERMS),
    st.builds(lambda test, then, left, right: choice(test < 0, then, left) <= right, TERMS, TERMS, TERMS, TERMS),
)
FORMULAS = st.recursive(
    st.one_of(COMPARISONS, st.sampled_from([P, Q])),
    lambda inner: st.one_of(
        st.builds(no, inner),
        st.builds(every, inner, inner),
        st.builds(some, inner, inner),
        st.builds(implies, inner, inner),
        st.builds(iff, inner, inner),
    ),
    max_leaves=4,
)


@settings(max_examples=40, deadline=None)
@given(st.lists(FORMULAS, min_size=3, max_size=9))
def test_random_formulas_are_certified_exactly_if_they_have_no_solution(formulas):
    solver = Checker()
    for formula in formulas:
        solver.add(formula)
    if solver.check() == SAT:
        assert certify(formulas) is None
    else:
        certified(formulas)


def test_lemmas_that_are_not_learned_are_found_and_wrong_ones_left_out(monkeypatch):
    clauses = Clauses(SPLIT)
    wrong = tuple(list(clauses.atoms)[:2])
    monkeypatch.setattr(_Theory, "harvest", lambda _: [wrong])
    assert len(certified(SPLIT)["lemmas"]) == 2
    certified(questions("ccac", "infinite", 5, "cc_qdel")["beliefs turn false"])


def test_the_clauses_do_not_depend_on_what_was_made_before():
    v, u = real("made_first"), real("a_name_before_it")
    assert Clauses([u + v <= 0, equal(u, v)]).digest() == Clauses([v + u <= 0, equal(v, u)]).digest()


# What is rejected.


def faults(formulas, certificate, changes):
    """Return the check's result for the certificate after each change. A change is a function that edits a copy."""
    for change in changes:
        changed = deepcopy(certificate)
        change(changed)
        yield check(formulas, changed).fault


def test_any_multiplier_changed():
    formulas = questions("ccac", "infinite", 5, "cc_qdel")["beliefs turn false"]
    certificate = certified(formulas)
    for number, lemma in enumerate(certificate["lemmas"]):
        for pair in lemma:
            pair[1] += 1
            assert f"lemma {number + 1} does not hold" in check(formulas, certificate).fault
            pair[1] -= 1


@pytest.mark.parametrize("multiplier", [0, -1])
def test_a_multiplier_that_is_not_positive(multiplier):
    certificate = certified([X < Y, Y < X])
    certificate["lemmas"][0].append([1, multiplier])
    assert "lemma 1 does not hold" in check([X < Y, Y < X], certificate).fault


def test_a_lemma_without_its_contradiction():
    formulas = [X <= Y, Y <= X, no(equal(X, Y)), P]
    certificate = certified(formulas)
    clauses = Clauses(formulas)
    x, y = (Linear({(0, name): Fraction(1)}) for name in "xy")
    lemma = [[-clauses.find_literal(x - y), 1], [-clauses.find_literal(y - x), 1]]
    for wrong in ([], lemma, [[clauses.literal(("symbol", "p")), 1]], [[10**9, 1]]):
        certificate["lemmas"].append(wrong)
        assert "does not hold" in check(formulas, certificate).fault
        certificate["lemmas"].pop()


def test_any_lemma_left_out_of_two_that_are_needed():
    certificate = certified(SPLIT)
    assert len(certificate["lemmas"]) == 2
    for fault in faults(SPLIT, certificate, [lambda c: c["lemmas"].pop(0), lambda c: c["lemmas"].pop()]):
        assert "without a contradiction" in fault or "does not follow" in fault


def test_no_lemmas_or_no_steps(real_question):
    changes = [lambda c: c["lemmas"].clear(), lambda c: c["steps"].clear()]
    assert all(faults(*real_question, changes))


def test_a_step_that_does_not_follow(real_question):
    formulas, certificate = real_question
    free = Clauses(formulas).literal(("symbol", "unheard of"))
    fresh = min(certificate["lemmas"])[0][0]
    (*said,) = faults(
        formulas,
        certificate,
        [
            lambda c: c["steps"].insert(0, []),
            lambda c: c["steps"].insert(0, [-fresh]) or c["steps"].insert(0, [fresh]),
            lambda c: c["steps"].insert(0, [free]),
            lambda c: c["steps"].insert(0, [0]),
        ],
    )
    assert said[0] == "step 1 does not follow by unit propagation"
    assert "does not follow" in said[1]
    assert said[2:] == ["step 1 has a literal that the clauses do not have"] * 2


def test_a_certificate_of_another_question(real_question):
    _, certificate = real_question
    asked = questions("ccac", "infinite", 7, "g1_t11_3")["no progress"]
    assert check(asked, certificate).fault == "it is a certificate for another question"
    certificate = {**certificate, "question": Clauses(asked).digest()}
    assert "does not hold" in check(asked, certificate).fault


@pytest.mark.parametrize(
    "wrong",
    [
        None,
        [],
        {},
        {"question": "", "lemmas": []},
        {"question": "", "lemmas": [], "steps": [], "more": 1},
        {"question": "", "lemmas": {}, "steps": []},
        {"question": "", "lemmas": [[[1, 1, 1]]], "steps": []},
        {"question": "", "lemmas": [[[1, 0.5]]], "steps": []},
        {"question": "", "lemmas": [[1, 1]], "steps": []},
        {"question": "", "lemmas": [], "steps": [[True]]},
        {"question": "", "lemmas": [], "steps": ["1"]},
    ],
)
def test_what_is_no_certificate(wrong):
    with pytest.raises(InputError, match="no certificate"):
        check([X < X], wrong)


def test_formulas_that_are_not_linear_real_arithmetic():
    x, n = Symbol("x", REAL), Symbol("n", INT)
    for formula in (Condition(LE(Times(x, x), Real(1))), Condition(LE(n, Int(3)))):
        with pytest.raises(InputError, match="no linear real arithmetic"):
            certify([formula])
