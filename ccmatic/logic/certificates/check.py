"""The check of certificates that formulas of linear real arithmetic have no common solution.

A certificate is a CertificateFile. The field `question` is a digest of the formulas' clauses. The field `lemmas` has
further clauses over the same atoms, each a list of (literal, multiplier). The `steps` refute the clauses and lemmas by
unit propagation.

The literals of a lemma are inequalities. By the lemma of Farkas, a lemma holds if its negated literals, multiplied by
the positive multipliers, add up to 0 < 0 or 0 ≤ -1. The check trusts the conversion to clauses, its own exact
arithmetic and unit propagation, but no solver.
"""

from collections import defaultdict
from dataclasses import dataclass

from pysat.solvers import Minisat22

from ccmatic import records
from ccmatic.logic.certificates.clauses import Clauses
from ccmatic.records import CertificateFile


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check: how much the formulas and the certificate have, and the fault.

    `fault` is the reason, in words, why the certificate is no proof; None if it proves that the formulas have no common
    solution.
    """

    clauses: int
    lemmas: int
    steps: int
    fault: str | None = None


def check_certificate(formulas, certificate):
    """Check whether a certificate, data of the shape of a CertificateFile, proves that formulas have no solution."""
    clauses = Clauses(formulas)
    read = records.convert(certificate, CertificateFile, what="no certificate")
    sizes = len(clauses.clauses), len(read.lemmas), len(read.steps)
    if read.question != clauses.digest():
        return Outcome(*sizes, "it is a certificate for another question")
    return Outcome(*sizes, _fault(clauses, read.lemmas, read.steps))


def _fault(clauses, lemmas, steps):
    for number, lemma in enumerate(lemmas, 1):
        if not _holds(clauses, lemma):
            return f"lemma {number} does not hold: its inequalities do not add up to a contradiction"
    literals = range(1, clauses.top + 1)
    for number, step in enumerate(steps, 1):
        if any(abs(literal) not in literals for literal in step):
            return f"step {number} has a literal that the clauses do not have"
    premises = clauses.clauses + [[literal for literal, _ in lemma] for lemma in lemmas]
    followed, refuted = check_refutation(premises, steps)
    if refuted:
        return None
    if followed < len(steps):
        return f"step {followed + 1} does not follow by unit propagation"
    return "its steps end without a contradiction"


def _holds(clauses, lemma):
    """Return whether the negated literals of a lemma, multiplied and added, give 0 < 0 or 0 ≤ a negative number."""
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


def check_refutation(clauses, steps):
    """Check the steps of a refutation of clauses.

    A step is a clause that follows from all clauses before it by unit propagation (RUP, the core of DRAT).

    Returns:
        (count, refuted). `count` is the number of steps, up to the first failure, that follow from the clauses and the
        earlier steps. `refuted` is true if all steps follow and they lead to a contradiction by unit propagation.
    """
    with Minisat22(bootstrap_with=clauses) as propagator:
        for number, clause in enumerate(steps):
            if _consistent(propagator, [-literal for literal in clause]):
                return number, False
            propagator.add_clause(clause)
        return len(steps), not _consistent(propagator, [])


def _consistent(propagator, literals):
    consistent, _ = propagator.propagate(literals)
    return consistent
