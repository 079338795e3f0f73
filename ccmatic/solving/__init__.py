"""Solvers behind one contract, and certificates that need none."""

from ccmatic.solving.certificate_check import check_certificate
from ccmatic.solving.certificate_search import certify
from ccmatic.solving.solver import NAMES, SAT, UNKNOWN, UNSAT, Checker, conflict, script
from ccmatic.solving.unit_propagation import check_refutation, refute

__all__ = [
    "NAMES",
    "SAT",
    "UNKNOWN",
    "UNSAT",
    "Checker",
    "certify",
    "check_certificate",
    "check_refutation",
    "conflict",
    "refute",
    "script",
]
