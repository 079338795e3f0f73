"""A controller's decision as C: integers only, its conditions decided exactly, its rate rounded down.

Bytes, bytes per step and whole steps are integers, R_m is one step and D a whole number of them; so a controller is
linear with rational coefficients, and multiplied by their common denominator it needs no division but a last one.
"""

from fractions import Fraction
from math import lcm

from ccmatic.base import InputError
from ccmatic.language import ARITHMETIC, ORDER, Binary, Comparison, Extreme, If, Logic, Name, Not, Number, text

#: No belief is larger: 2^40 bytes, or bytes per step.
LARGEST = 2**40

_C_LOGIC = {"and": " && ", "or": " || "}


def decision(controller, jitter):
    """The statements of a C function's body that return the controller's rate, bytes per step, rounded down, at least
    0; `int64_t` variables named as its parameters are in scope. jitter: D in steps.

    Raises InputError where integers of 64 bits cannot hold a term, or a divisor is 0.
    """
    if controller.is_envelope:
        raise InputError(f"{controller.name} is an envelope, which has no rate of its own to send at", controller.file)
    return _Decision(controller, jitter).body(controller.body, "    ")


class _Decision:
    def __init__(self, controller, jitter):
        self.file = controller.file
        self.known = {"R_m": Fraction(1), "D": Fraction(jitter)}
        self.conditions = {}

    def body(self, tree, indent):
        if not isinstance(tree, If):
            common = self.denominator(tree)
            return [f"{indent}return ccm_divided({self.term(tree, common)}, {common});"]
        test = self.condition(tree.test)
        if isinstance(test, bool):
            return self.body(tree.then if test else tree.other, indent)
        then = self.body(tree.then, indent + "    ")
        return [f"{indent}if ({test}) {{", *then, f"{indent}}}", *self.body(tree.other, indent)]

    def constant(self, tree):
        """The number that a term is, where it reads neither beliefs nor MSS; else None."""
        match tree:
            case Number(value):
                return value
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
        """(coefficient, name, or None for a number) for each leaf of factor·tree, inside max, min and if, too."""
        value = self.constant(tree)
        if value is not None:
            yield factor * value, None
            return
        match tree:
            case Name(name):
                yield factor, name
            case Binary("+" | "-", left, right):
                yield from self.leaves(left, factor)
                yield from self.leaves(right, factor if tree.op == "+" else -factor)
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

    def scaled(self, tree):
        """A product or quotient as a number times a term."""
        left, right = self.constant(tree.left), self.constant(tree.right)
        if tree.op == "/":
            return self.combined(tree, "/", Fraction(1), right), tree.left
        return (left, tree.right) if left is not None else (right, tree.left)

    def denominator(self, *trees):
        """The common denominator of all coefficients in the terms. Raises InputError if multiplied by it a term may
        exceed 64 bits."""
        leaves = [leaf for tree in trees for leaf in self.leaves(tree)]
        common = lcm(*(coefficient.denominator for coefficient, _ in leaves))
        most = sum(abs(coefficient) * common * (LARGEST if name else 1) for coefficient, name in leaves)
        if most >= 2**62:
            found = ", ".join(f"`{text(tree)}`" for tree in trees)
            raise InputError(f"{found} needs more than 64 bits in C; expected smaller coefficients", self.file)
        return common

    def term(self, tree, factor):
        """factor·tree as a C expression of type int64_t; factor times each coefficient is a whole number."""
        value = self.constant(tree)
        if value is not None:
            return _number(factor * value)
        match tree:
            case Name(name):
                return {1: name, -1: f"-{name}"}.get(factor, f"{_number(factor)} * {name}")
            case Binary("+", left, right):
                return f"{self.term(left, factor)} + {self.term(right, factor)}"
            case Binary("-", left, right):
                return f"{self.term(left, factor)} - {self.in_brackets(right, factor)}"
            case Binary():
                scale, rest = self.scaled(tree)
                return self.term(rest, factor * scale)
            case Extreme(pick, terms):
                if factor < 0:
                    pick = {"max": "min", "min": "max"}[pick]
                *firsts, written = [self.term(term, factor) for term in terms]
                for first in reversed(firsts):
                    written = f"ccm_{pick}({first}, {written})"
                return written
            case If(test, then, other):
                decided = self.condition(test)
                if isinstance(decided, bool):
                    return self.term(then if decided else other, factor)
                return f"({decided} ? {self.term(then, factor)} : {self.term(other, factor)})"
        raise TypeError(f"no term: {tree!r}")

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
                common = self.denominator(left, right)
                return f"{self.term(left, common)} {op} {self.term(right, common)}"
            case Logic(op, parts):
                return self.logic(op, parts)
            case Not(part):
                condition = self.condition(part)
                return not condition if isinstance(condition, bool) else f"!({condition})"
        raise TypeError(f"no condition: {tree!r}")

    def logic(self, op, parts):
        undecided = []
        for part in parts:
            condition = self.condition(part)
            if not isinstance(condition, bool):
                undecided.append(f"({condition})")
            elif condition != (op == "and"):
                return condition
        return _C_LOGIC[op].join(undecided) if undecided else op == "and"


def _number(value):
    return str(int(value)) if abs(value) < 2**31 else f"INT64_C({int(value)})"
