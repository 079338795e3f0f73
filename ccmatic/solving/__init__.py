"""SMT solvers behind one common interface."""

from ccmatic.solving.contexts import context, limited
from ccmatic.solving.options import NAMES, SolverOptions
from ccmatic.solving.programs import greatest
from ccmatic.solving.solver import SAT, UNKNOWN, UNSAT, Checker, Conflicts, conflict, script

__all__ = [
    "NAMES",
    "SAT",
    "UNKNOWN",
    "UNSAT",
    "Checker",
    "Conflicts",
    "SolverOptions",
    "conflict",
    "context",
    "greatest",
    "limited",
    "script",
]
