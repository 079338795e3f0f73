"""Refutations in propositional logic: found and logged by one SAT solver, checked by the unit propagation of another.

A clause is a list of literals, numbers other than 0, negative where they are negated. A step is a clause that follows
from those before it by unit propagation (RUP, the core of DRAT).
"""

from pysat.solvers import Glucose4, Minisat22


def refute(clauses):
    """(model, None) if the clauses are satisfiable, the model a list of the literals that are true; else (None, steps
    that refute them)."""
    with Glucose4(bootstrap_with=clauses, with_proof=True) as solver:
        if solver.solve():
            return solver.get_model(), None
        return None, [_clause(line) for line in solver.get_proof() if not line.startswith("d")]


def check_refutation(clauses, steps):
    """(count, refuted). count: how many steps follow, each from the clauses and the steps before it, until one does
    not. refuted: whether all do, and lead to a contradiction by unit propagation."""
    with Minisat22(bootstrap_with=clauses) as propagator:
        for number, clause in enumerate(steps):
            if _consistent(propagator, [-literal for literal in clause]):
                return number, False
            propagator.add_clause(clause)
        return len(steps), not _consistent(propagator, [])


def _consistent(propagator, literals):
    consistent, _ = propagator.propagate(literals)
    return consistent


def _clause(line):
    return [int(word) for word in line.split()[:-1]]
