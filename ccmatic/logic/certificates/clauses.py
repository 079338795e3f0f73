"""Conversion of formulas to clauses over linear atoms.

The conversion is deterministic, because certificates refer to the clauses. The clauses are satisfiable if and only if
the formulas are satisfiable. A literal is an integer, which is negative if the literal is negated. The literal stands
for an atom (a bound on a linear form), for a Boolean symbol, or for a conjunction of other literals.
"""

from fractions import Fraction
from hashlib import sha256
from math import gcd, lcm, prod

from pysmt.exceptions import UnsupportedOperatorError
from pysmt.walkers import DagWalker

from ccmatic.base import InputError
from ccmatic.logic import Linear, formula, linear


class Clauses:
    """The clauses of formulas.

    Attributes:
        clauses: The clauses, each a list of literals.
        atoms: For each positive literal of an atom, the tuple (form, bound, strict). The atom means form ≤ bound, or
            form < bound if strict. A form is a tuple of pairs (unknown, coefficient); the coefficients are coprime
            integers, the first one positive.

    Raises:
        InputError: If a formula is not in linear real arithmetic.
    """

    def __init__(self, conditions):
        self.clauses, self.atoms, self.top = [], {}, 0
        self._literals, self._members, self._required = {}, {}, set()
        converter = _Converter(self)
        try:
            for condition in conditions:
                self._assert(converter.walk(formula(condition)))
        except UnsupportedOperatorError as error:
            raise _not_linear(error.expression) from None

    def inequality(self, literal):
        """Return the inequality of a literal as (form, bound, strict); None if the literal stands for no atom."""
        if abs(literal) not in self.atoms:
            return None
        form, bound, strict = self.atoms[abs(literal)]
        if literal > 0:
            return form, bound, strict
        return tuple((unknown, -coefficient) for unknown, coefficient in form), -bound, not strict

    def at_most(self, term, strict=False):
        """Return the literal of term ≤ 0 (or < 0)."""
        if not term.coefficients:
            truth = term.constant < 0 or (term.constant == 0 and not strict)
            return self.conjunction([]) if truth else -self.conjunction([])
        sign, atom = _canonical(term, strict)
        literal = self.literal(("atom", *atom))
        self.atoms[literal] = atom
        return sign * literal

    def find_literal(self, term):
        """Return the literal of term ≤ 0 if the clauses contain its atom; otherwise None."""
        sign, atom = _canonical(term, False)
        literal = self._literals.get(("atom", *atom))
        return literal and sign * literal

    def digest(self):
        return sha256(repr((self.clauses, list(self.atoms.items()))).encode()).hexdigest()

    def equal(self, term):
        """Return the literal of term = 0, for a Linear over the unknowns of the clauses."""
        return self.conjunction([self.at_most(term), self.at_most(-term)])

    def conjunction(self, literals):
        members = tuple(sorted(set(literals)))
        if len(members) == 1:
            return members[0]
        literal = self.literal(("and", members))
        self._members[literal] = members
        return literal

    def literal(self, key):
        """Return the positive literal of `key`, a hashable value. The first call with a key creates its literal."""
        if key not in self._literals:
            self.top += 1
            self._literals[key] = self.top
        return self._literals[key]

    def clause(self, literals):
        """Assert that at least one literal is true. Define each conjunction among them at its first use."""
        self.clauses.append(literals)
        for literal in literals:
            self._require(literal)

    def _assert(self, literal):
        if literal in self._members:
            for member in self._members[literal]:
                self._assert(member)
        else:
            self.clause([-member for member in self._members.get(-literal, [-literal])])

    def _require(self, literal):
        """Add clauses by which a true literal implies its meaning. The converse implication is not necessary."""
        members = self._members.get(abs(literal))
        if members is None or literal in self._required:
            return
        self._required.add(literal)
        entailed = [[member] for member in members] if literal > 0 else [[-member for member in members]]
        for disjunction in entailed:
            self.clauses.append([-literal, *disjunction])
            for member in disjunction:
                self._require(member)


def _not_linear(formula):
    return InputError(f"no linear real arithmetic: {formula}")


def _canonical(term, strict):
    """Return (sign, atom): the formula term ≤ 0 (or < 0) is the atom, negated if the sign is -1."""
    items = sorted(term.coefficients.items())
    scale = Fraction(lcm(*(c.denominator for _, c in items)), gcd(*(c.numerator for _, c in items)))
    sign = 1 if items[0][1] > 0 else -1
    form = tuple((unknown, int(sign * scale * c)) for unknown, c in items)
    # With sign -1, the atom is -term < 0 (or ≤ 0 if strict), whose negation is term ≤ 0 (or < 0).
    return sign, (form, -sign * scale * term.constant, strict == (sign > 0))


class _Converter(DagWalker):
    """Converts a formula to its literal, and a term to a Linear.

    An unknown of a Linear is the pair (0, name) for a symbol, and the pair (1, number) for a choice between two terms.
    """

    def __init__(self, clauses):
        super().__init__(invalidate_memoization=False)
        self.clauses = clauses
        self._choices = 0

    def walk_symbol(self, formula, args, **_):
        name, kind = formula.symbol_name(), formula.symbol_type()
        if kind.is_bool_type():
            return self.clauses.literal(("symbol", name))
        if kind.is_real_type():
            return Linear({(0, name): Fraction(1)})
        raise _not_linear(formula)

    def walk_real_constant(self, formula, args, **_):
        return linear(Fraction(formula.constant_value()))

    def walk_bool_constant(self, formula, args, **_):
        true = self.clauses.conjunction([])
        return true if formula.constant_value() else -true

    def walk_and(self, formula, args, **_):
        return self.clauses.conjunction(args)

    def walk_or(self, formula, args, **_):
        return self._some(*args)

    def walk_not(self, formula, args, **_):
        return -args[0]

    def walk_implies(self, formula, args, **_):
        return self._some(-args[0], args[1])

    def walk_iff(self, formula, args, **_):
        left, right = args
        return self.clauses.conjunction([self._some(-left, right), self._some(left, -right)])

    def walk_ite(self, formula, args, **_):
        test, then, otherwise = args
        if not isinstance(then, Linear):
            return self.clauses.conjunction([self._some(-test, then), self._some(test, otherwise)])
        self._choices += 1
        chosen = Linear({(1, self._choices): Fraction(1)})
        self.clauses.clause([-test, self.clauses.equal(chosen - then)])
        self.clauses.clause([test, self.clauses.equal(chosen - otherwise)])
        return chosen

    def walk_equals(self, formula, args, **_):
        return self.clauses.equal(args[0] - args[1])

    def walk_le(self, formula, args, **_):
        return self.clauses.at_most(args[0] - args[1])

    def walk_lt(self, formula, args, **_):
        return self.clauses.at_most(args[0] - args[1], strict=True)

    def walk_plus(self, formula, args, **_):
        return sum(args, linear(0))

    def walk_times(self, formula, args, **_):
        terms = [arg for arg in args if arg.coefficients]
        if len(terms) > 1:
            raise _not_linear(formula)
        return (terms[0] if terms else linear(1)) * prod(arg.constant for arg in args if not arg.coefficients)

    def _some(self, *literals):
        return -self.clauses.conjunction([-literal for literal in literals])
