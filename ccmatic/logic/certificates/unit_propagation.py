"""Refutations in propositional logic.

One SAT solver finds a refutation, and another SAT solver checks it by unit propagation. A clause is a list of literals:
nonzero integers, negative if the literal is negated. A step of a refutation is a clause that follows from all clauses
before it by unit propagation (RUP, the core of DRAT).
"""

from pysat.solvers import Glucose4, Minisat22


def refute(clauses):
    """Refute clauses, or find a model of the clauses.

    Returns:
        If the clauses are satisfiable, (model, None), where the model lists the true literals; otherwise (None, steps).
    """
    with Glucose4(bootstrap_with=clauses, with_proof=True) as solver:
        if solver.solve():
            return solver.get_model(), None
        return None, [_clause(line) for line in solver.get_proof() if not line.startswith("d")]


def check_refutation(clauses, steps):
    """Check the steps of a refutation.

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


def _clause(line):
    return [int(word) for word in line.split()[:-1]]
