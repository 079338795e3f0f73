"""Terms and conditions of controllers as C: integers only, conditions decided exactly.

All that a term reads is an integer, or a known number; so a term is linear with rational coefficients, and multiplied
by their common denominator it needs no division but a last one.
"""

from fractions import Fraction
from math import lcm

from ccmatic.base import InputError
from ccmatic.compilers.text import text
from ccmatic.language import ARITHMETIC, ORDER, Binary, Comparison, Extreme, If, Local, Logic, Name, Not, Number

_C_LOGIC = {"and": " && ", "or": " || "}


class Expression:
    """Writes the trees of one controller. known: the names that are numbers, with their values; file: of the
    controller, for messages. What other names are in C a subclass says."""

    def __init__(self, known, file):
        self.known, self.file = known, file
        self.conditions = {}

    def variable(self, leaf):
        """What a name, as a leaf of a tree, is in C: (expression, how many of it are one, the most that it is)."""
        raise NotImplementedError

    def truth(self, leaf):
        """The same of a name that is a condition: an expression, or True or False."""
        raise NotImplementedError

    def presumed(self, comparison):
        """What has to be so, an expression, for a comparison to hold; empty if nothing has to."""
        return ""

    def body(self, tree, leaf, indent="    "):
        """Statements, indented: of each path through a tree, those that `leaf` gives of how it ends."""
        if not isinstance(tree, If):
            return [f"{indent}{statement}" for statement in leaf(tree)]
        test = self.condition(tree.test)
        if isinstance(test, bool):
            return self.body(tree.then if test else tree.other, leaf, indent)
        then = self.body(tree.then, leaf, indent + "    ")
        return [f"{indent}if ({test}) {{", *then, f"{indent}}}", *self.body(tree.other, leaf, indent)]

    def constant(self, tree):
        """The number that a term is, where all that it reads is known; else None."""
        match tree:
            case Number(value):
                return value
            case Local(_, term):
                return self.constant(term)
            case Name(name):
                return self.known.get(name)
            case Binary(op, left, right):
                values = self.constant(left), self.constant(right)
                return None if None in values else self.combined(tree, op, *values)
            case Extreme(pick, terms):
                values = [self.constant(term) for term in terms]
                return None if None in values else (max if pick == "max" else min)(values)
            case If(test, then, other):
                decided = self.condition(test)
                return self.constant(then if decided else other) if isinstance(decided, bool) else None
        return None

    def combined(self, tree, op, left, right):
        if op == "/" and right == 0:
            message = f"divides by `{text(tree.right)}`, which is 0 here; expected a divisor other than 0"
            raise InputError(message, self.file, tree.line)
        return ARITHMETIC[op](left, right)

    def leaves(self, tree, factor=Fraction(1)):
        """(coefficient, the most that it is multiplied by) for each leaf of factor·tree, in max, min and if, too."""
        value = self.constant(tree)
        if value is not None:
            yield factor * value, 1
            return
        match tree:
            case Local(_, term):
                yield from self.leaves(term, factor)
            case Name():
                _, one, most = self.variable(tree)
                yield factor / one, most
            case Binary("+" | "-", left, right):
                yield from self.leaves(left, factor)
                yield from self.leaves(right, factor if tree.op == "+" else -factor)
            case Binary() if self.is_product(tree):
                sides = tree.left, tree.right
                over, most = zip(*(self.denominator_and_most(side) for side in sides), strict=True)
                yield factor / (over[0] * over[1]), most[0] * most[1]
            case Binary():
                scale, rest = self.scaled(tree)
                yield from self.leaves(rest, factor * scale)
            case Extreme(_, terms):
                for term in terms:
                    yield from self.leaves(term, factor)
            case If(test, then, other):
                decided = self.condition(test)
                for branch, left_out in ((then, False), (other, True)):
                    if decided is not left_out:
                        yield from self.leaves(branch, factor)

    def is_product(self, tree):
        """Whether neither side of a product is a known number."""
        return tree.op == "*" and self.constant(tree.left) is None and self.constant(tree.right) is None

    def scaled(self, tree):
        """A product or quotient as a number times a term."""
        left, right = self.constant(tree.left), self.constant(tree.right)
        if tree.op == "/":
            return self.combined(tree, "/", Fraction(1), right), tree.left
        return (left, tree.right) if left is not None else (right, tree.left)

    def denominator(self, *trees, factor=Fraction(1)):
        """The common denominator of all coefficients in the terms, times a factor. Raises InputError if multiplied by
        both a term may exceed 64 bits."""
        common, most = self.denominator_and_most(*trees, factor=factor)
        if most >= 2**62:
            found = ", ".join(f"`{text(tree)}`" for tree in trees)
            raise InputError(f"{found} needs more than 64 bits in C; expected smaller coefficients", self.file)
        return common

    def denominator_and_most(self, *trees, factor=Fraction(1)):
        leaves = [leaf for tree in trees for leaf in self.leaves(tree, factor)]
        common = lcm(*(coefficient.denominator for coefficient, _ in leaves))
        return common, sum(abs(coefficient) * common * most for coefficient, most in leaves)

    def term(self, tree, factor):
        """factor·tree as a C expression of type int64_t; factor times each coefficient is a whole number."""
        value = self.constant(tree)
        if value is not None:
            return _number(factor * value)
        match tree:
            case Local(_, term):
                return self.term(term, factor)
            case Name():
                name, one, _ = self.variable(tree)
                return {1: name, -1: f"-{name}"}.get(factor / one, f"{_number(factor / one)} * {name}")
            case Binary("+", left, right):
                return f"{self.term(left, factor)} + {self.term(right, factor)}"
            case Binary("-", left, right):
                return f"{self.term(left, factor)} - {self.in_brackets(right, factor)}"
            case Binary() if self.is_product(tree):
                sides = [(side, self.denominator_and_most(side)[0]) for side in (tree.left, tree.right)]
                left, right = (f"({self.term(side, over)})" for side, over in sides)
                times = factor / (sides[0][1] * sides[1][1])
                return f"{left} * {right}" if times == 1 else f"{_number(times)} * {left} * {right}"
            case Binary():
                scale, rest = self.scaled(tree)
                return self.term(rest, factor * scale)
            case Extreme(pick, terms):
                if factor < 0:
                    pick = {"max": "min", "min": "max"}[pick]
                return self.nested(pick, [self.term(term, factor) for term in terms])
            case If(test, then, other):
                decided = self.condition(test)
                if isinstance(decided, bool):
                    return self.term(then if decided else other, factor)
                return f"({decided} ? {self.term(then, factor)} : {self.term(other, factor)})"
        raise TypeError(f"no term: {tree!r}")

    def nested(self, pick, terms):
        """The largest or the smallest of some C expressions."""
        *firsts, written = terms
        for first in reversed(firsts):
            written = f"ccm_{pick}({first}, {written})"
        return written

    def in_brackets(self, tree, factor):
        written = self.term(tree, factor)
        return f"({written})" if " + " in written or " - " in written or written.startswith("-") else written

    def condition(self, tree):
        """The C expression of a condition; True or False where constants decide it."""
        # Kept, as a condition within a condition's term is asked for at each level around it.
        if id(tree) not in self.conditions:
            self.conditions[id(tree)] = self.written_condition(tree)
        return self.conditions[id(tree)]

    def written_condition(self, tree):
        match tree:
            case Comparison(op, left, right):
                values = self.constant(left), self.constant(right)
                if None not in values:
                    return ORDER[op](*values)
                common, presumed = self.denominator(left, right), self.presumed(tree)
                sides = self.term(left, common), self.term(right, common)
                if sides[0] == sides[1] and not presumed:
                    return ORDER[op](0, 0)
                return f"{presumed}{sides[0]} {op} {sides[1]}"
            case Local(_, condition):
                return self.condition(condition)
            case Logic(op, parts):
                return self.logic(op, parts)
            case Not(part):
                condition = self.condition(part)
                return not condition if isinstance(condition, bool) else f"!({condition})"
            case Name():
                return self.truth(tree)
        raise TypeError(f"no condition: {tree!r}")

    def logic(self, op, parts):
        undecided = []
        for part in parts:
            condition = self.condition(part)
            if not isinstance(condition, bool):
                undecided.append(condition)
            elif condition != (op == "and"):
                return condition
        if len(undecided) > 1:
            undecided = [f"({condition})" for condition in undecided]
        return _C_LOGIC[op].join(undecided) if undecided else op == "and"


def _number(value):
    return str(int(value)) if abs(value) < 2**31 else f"INT64_C({int(value)})"
