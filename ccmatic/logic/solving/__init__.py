"""SMT solvers behind one common interface."""

from ccmatic.logic.solving.options import NAMES, SolverOptions
from ccmatic.logic.solving.programs import greatest
from ccmatic.logic.solving.solver import SAT, UNKNOWN, UNSAT, Checker, Conflicts, conflict, context, limited, script

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
