"""Certificates that formulas of linear real arithmetic have no common solution, and their check.

A certificate is data for JSON: `question`, a digest of the formulas' clauses; `lemmas`, clauses over their atoms, each
a list of (literal, multiplier); and `steps`, which refute clauses and lemmas by unit propagation (`rup`). A lemma holds
because its negated literals, inequalities, multiplied by the positive integers and added, say 0 < 0 or 0 ≤ -1
(Farkas). The check trusts `clauses`, its own exact arithmetic and unit propagation; no solver.
"""

from collections import defaultdict
from dataclasses import dataclass

from ccmatic.base import InputError
from ccmatic.solving import unit_propagation as rup
from ccmatic.solving.clauses import Clauses


@dataclass(frozen=True)
class Outcome:
    """How many clauses the formulas have, and lemmas and steps the certificate. fault: why it proves nothing, or
    None if it does prove that the formulas have no common solution."""

    clauses: int
    lemmas: int
    steps: int
    fault: str | None = None


def check_certificate(formulas, certificate):
    """The Outcome of checking that the certificate proves the formulas to have no common solution. Raises InputError
    if it is no certificate at all."""
    clauses = Clauses(formulas)
    lemmas, steps = _parts(certificate)
    sizes = len(clauses.clauses), len(lemmas), len(steps)
    if certificate["question"] != clauses.digest():
        return Outcome(*sizes, "it is a certificate for another question")
    return Outcome(*sizes, _fault(clauses, lemmas, steps))


def _fault(clauses, lemmas, steps):
    for number, lemma in enumerate(lemmas, 1):
        if not _holds(clauses, lemma):
            return f"lemma {number} does not hold: its inequalities do not add up to a contradiction"
    literals = range(1, clauses.top + 1)
    for number, step in enumerate(steps, 1):
        if any(abs(literal) not in literals for literal in step):
            return f"step {number} has a literal that the clauses do not have"
    known = clauses.clauses + [[literal for literal, _ in lemma] for lemma in lemmas]
    followed, refuted = rup.check_refutation(known, steps)
    if refuted:
        return None
    if followed < len(steps):
        return f"step {followed + 1} does not follow by unit propagation"
    return "its steps end without a contradiction"


def _holds(clauses, lemma):
    """Whether the negated literals, multiplied and added, say that 0 is less than itself or than a negative number."""
    sums, total, some_strict = defaultdict(int), 0, False
    for literal, multiplier in lemma:
        inequality = clauses.inequality(-literal)
        if inequality is None or multiplier <= 0:
            return False
        form, bound, strict = inequality
        for unknown, coefficient in form:
            sums[unknown] += multiplier * coefficient
        total += multiplier * bound
        some_strict |= strict
    return not any(sums.values()) and (total < 0 or (total == 0 and some_strict))


def _parts(certificate):
    """The lemmas and the steps, if these are lists of lists as they should be."""
    if not isinstance(certificate, dict) or certificate.keys() != {"question", "lemmas", "steps"}:
        raise InputError("no certificate; expected the keys question, lemmas and steps")
    lemmas, steps = certificate["lemmas"], certificate["steps"]
    if not _is_list(lemmas, lambda lemma: _is_list(lemma, lambda pair: _is_list(pair, _is_whole) and len(pair) == 2)):
        raise InputError("no certificate: lemmas; expected lists of pairs [literal, multiplier] of whole numbers")
    if not _is_list(steps, lambda step: _is_list(step, _is_whole)):
        raise InputError("no certificate: steps; expected lists of whole numbers")
    return lemmas, steps


def _is_list(value, is_item):
    return isinstance(value, list) and all(map(is_item, value))


def _is_whole(value):
    return type(value) is int
