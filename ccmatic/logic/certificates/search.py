"""The search for certificates.

Nobody has to trust the search, because `ccmatic.logic.certificates.check` checks each certificate independently. Z3
refutes the clauses and reports the theory lemmas that it learns. If these lemmas do not suffice, a loop finds the
remaining ones: a SAT solver proposes conjunctions, and Z3 refutes them. Multipliers are computed only for the lemmas
that a refutation uses.
"""

from collections import defaultdict
from fractions import Fraction
from math import gcd, lcm
from threading import Lock

import z3
from pysat.solvers import Glucose4

from ccmatic import records
from ccmatic.logic import Linear, linear
from ccmatic.logic.certificates.clauses import Clauses
from ccmatic.logic.solving import context
from ccmatic.records import CertificateFile

#: One thread at a time may listen: Z3's Python interface passes every learnt clause to the last `OnClause` created.
_LISTENING = Lock()


def certify(formulas):
    """Find a certificate that the formulas have no common solution.

    Return data with the shape of a CertificateFile; None if the formulas have a common solution.
    """
    clauses = Clauses(formulas)
    theory = _Theory(clauses)
    lemmas = theory.harvest()
    if lemmas is None:
        return None
    proved = None
    while proved is None:
        if not theory.complete(lemmas):
            return None
        used = _used(clauses, lemmas)
        multiplied = [_multiplied(clauses, lemma, theory.context) for lemma in used]
        for lemma in [lemma for lemma, product in zip(used, multiplied, strict=True) if not product]:
            lemmas.remove(lemma)
        proved = multiplied if all(multiplied) else None
    by_literals = {tuple(literal for literal, _ in lemma): lemma for lemma in proved}
    used = _used(clauses, list(by_literals))
    _, steps = refute(clauses.clauses + used)
    certificate = CertificateFile(
        clauses.digest(), [by_literals[lemma] for lemma in used], [step for step in steps if step]
    )
    return records.data(certificate)


class _Theory:
    """The atoms of the clauses as expressions of Z3."""

    def __init__(self, clauses):
        self._clauses, self.context = clauses, context()
        unknowns = dict.fromkeys(unknown for form, _, _ in clauses.atoms.values() for unknown, _ in form)
        self._names = {f"x{number}": unknown for number, unknown in enumerate(unknowns)}
        self._unknowns = {unknown: z3.Real(name, self.context) for name, unknown in self._names.items()}
        self._read, self._nodes = {}, {}

    def harvest(self):
        """Return the clauses over the atoms that Z3 learns by linear arithmetic while it refutes the clauses.

        If the clauses are satisfiable, return None.
        """
        solver, lemmas = z3.SimpleSolver(self.context), []
        solver.set("arith.solver", 2)  # this older solver learns about as many clauses as the newer one, in less time

        def learn(hint, _, clause):
            if hint.decl().name() not in ("assumption", "rup", "del"):
                literals = [self._literal(part) for part in clause]
                if None not in literals:
                    lemmas.append(tuple(sorted(literals)))

        with _LISTENING:
            listener = z3.OnClause(solver, learn)
            for clause in self._clauses.clauses:
                solver.add(z3.Or([self._node(literal) for literal in clause], self.context))
            satisfiable = _satisfiable(solver)
            del listener
        return None if satisfiable else list(dict.fromkeys(lemmas))

    def complete(self, lemmas):
        """Add lemmas until they contradict the clauses. Return False if the clauses have a solution."""
        needed = {literal for clause in self._clauses.clauses for literal in clause}
        marks = {}
        solver = z3.SimpleSolver(self.context)
        for literal in needed:
            if abs(literal) in self._clauses.atoms:
                marks[literal] = z3.Bool(f"holds{literal}", self.context)
                solver.add(z3.Implies(marks[literal], self._node(literal)))
        literals = {mark.decl().name(): literal for literal, mark in marks.items()}
        with Glucose4(bootstrap_with=self._clauses.clauses + lemmas) as sat:
            while sat.solve():
                if _satisfiable(solver, *(marks[literal] for literal in sat.get_model() if literal in marks)):
                    return False
                lemma = tuple(sorted(-literals[mark.decl().name()] for mark in solver.unsat_core()))
                lemmas.append(lemma)
                sat.add_clause(lemma)
        return True

    def _node(self, literal):
        """Return the Z3 node of a literal. Z3's Python interface is slow, so each node is built once."""
        if literal not in self._nodes:
            self._nodes[literal] = z3.Not(self._node(-literal)) if literal < 0 else self._positive(literal)
        return self._nodes[literal]

    def _positive(self, literal):
        inequality = self._clauses.inequality(literal)
        if inequality is None:
            return z3.Bool(f"p{literal}", self.context)
        form, bound, strict = inequality
        term = z3.Sum([_number(coefficient, self.context) * self._unknowns[unknown] for unknown, coefficient in form])
        number = _number(bound, self.context)
        return term < number if strict else term <= number

    def _literal(self, node):
        if node.get_id() not in self._read:
            self._read[node.get_id()] = self._parse(node), node
        return self._read[node.get_id()][0]

    def _parse(self, node):
        if z3.is_not(node):
            literal = self._literal(node.arg(0))
            return literal and -literal
        if z3.is_le(node) or z3.is_ge(node):
            difference = self._term(node.arg(0)) - self._term(node.arg(1))
            return self._clauses.find_literal(difference if z3.is_le(node) else -difference)
        return None

    def _term(self, node):
        if z3.is_rational_value(node):
            return linear(node.as_fraction())
        if z3.is_add(node):
            return sum(map(self._term, node.children()), linear(0))
        if z3.is_mul(node):
            return self._term(node.arg(1)) * self._term(node.arg(0)).constant
        return Linear({self._names[node.decl().name()]: Fraction(1)})


def _used(clauses, lemmas):
    """Return the lemmas that a refutation uses. Repeated unsatisfiable cores reduce the number of lemmas."""
    before = None
    while len(lemmas) != before:
        before = len(lemmas)
        with Glucose4(bootstrap_with=clauses.clauses) as sat:
            for assumed, lemma in enumerate(lemmas, clauses.top + 1):
                sat.add_clause([-assumed, *lemma])
            sat.solve(range(clauses.top + 1, clauses.top + 1 + len(lemmas)))
            lemmas = [lemmas[assumed - clauses.top - 1] for assumed in sat.get_core() or ()]
    return lemmas


def _multiplied(clauses, lemma, context):
    """Return the literals that a lemma needs, with their multipliers; None if the lemma does not hold."""
    inequalities = {literal: clauses.inequality(-literal) for literal in lemma}
    multipliers = {literal: z3.Real(f"m{literal}", context) for literal in lemma}
    sums, solver = defaultdict(list), z3.SimpleSolver(context)
    for literal, (form, bound, strict) in inequalities.items():
        solver.add(multipliers[literal] >= 0)
        for unknown, coefficient in form:
            sums[unknown].append(_number(coefficient, context) * multipliers[literal])
        sums["bound"].append(_number(bound, context) * multipliers[literal])
        sums["strict"].append(multipliers[literal] if strict else 0)
    bound, strict = z3.Sum(sums.pop("bound")), z3.Sum(sums.pop("strict"))
    solver.add(*(z3.Sum(column) == 0 for column in sums.values()))
    solver.add(z3.Or(bound <= -1, z3.And(bound <= 0, strict >= 1)))
    if not _satisfiable(solver):
        return None
    model = solver.model()
    values = {literal: model.eval(m, model_completion=True).as_fraction() for literal, m in multipliers.items()}
    scale = Fraction(lcm(*(v.denominator for v in values.values())), gcd(*(v.numerator for v in values.values())))
    return [[literal, int(value * scale)] for literal, value in values.items() if value]


def _number(number, context):
    return z3.RealVal(number, context)


def _satisfiable(solver, *assumptions):
    # Z3's Python interface would convert each assumption, which took a third of the time of a certificate.
    given = (z3.Ast * len(assumptions))(*(each.as_ast() for each in assumptions))
    answer = z3.Z3_solver_check_assumptions(solver.ctx.ref(), solver.solver, len(given), given)
    if answer == z3.Z3_L_UNDEF:  # Z3 catches Ctrl-C itself; with no limit, Z3 stops for no other reason
        raise KeyboardInterrupt
    return answer == z3.Z3_L_TRUE


def refute(clauses):
    """Return (None, steps) that refute clauses, or (model, None), where the model lists the true literals."""
    with Glucose4(bootstrap_with=clauses, with_proof=True) as solver:
        if solver.solve():
            return solver.get_model(), None
        return None, [
            [int(word) for word in line.split()[:-1]] for line in solver.get_proof() if not line.startswith("d")
        ]
