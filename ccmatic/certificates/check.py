"""Certificates that formulas of linear real arithmetic have no common solution, and their check.

A certificate is a CertificateFile: `question`, a digest of the formulas' clauses; `lemmas`, clauses over their atoms,
each a list of (literal, multiplier); and `steps`, which refute clauses and lemmas by unit propagation. A lemma
holds because its negated literals, inequalities, multiplied by the positive integers and added, say 0 < 0 or 0 ≤ -1
(Farkas). The check trusts `clauses`, its own exact arithmetic and unit propagation; no solver.
"""

from collections import defaultdict
from dataclasses import dataclass

from ccmatic import records
from ccmatic.certificates import unit_propagation
from ccmatic.certificates.clauses import Clauses
from ccmatic.records import CertificateFile


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check, with its sizes: clauses of the formulas, lemmas and steps of the certificate.

    fault: why the certificate proves nothing, in words; None: it proves that the formulas have no common solution.
    """

    clauses: int
    lemmas: int
    steps: int
    fault: str | None = None


def check_certificate(formulas, certificate):
    """The Outcome of checking that a certificate proves the formulas to have no common solution.

    formulas: conditions of linear real arithmetic. certificate: data as in JSON, of the shape of a CertificateFile.
    Raises InputError if it is no such data, or a formula is not linear.
    """
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
    followed, refuted = unit_propagation.check_refutation(premises, steps)
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
