"""Trees as formulas, linear in the terms that the parameters stand for."""

import operator
from functools import reduce

from ccmatic.base import InputError
from ccmatic.language.printer import text
from ccmatic.language.tree import ORDER, Between, Binary, Comparison, Extreme, If, Logic, Name, Not, Number
from ccmatic.logic import choice, equal, every, implies, is_max, linear, no, some

_COMPARE = {**ORDER, "==": equal, "!=": lambda left, right: no(equal(left, right))}


class Encoder:
    """Encodes trees of `ccmatic.language.tree` over one map from parameters to terms or numbers; R_m and D are numbers.
    file: for messages. Its methods raise InputError, with the line, for a division by 0 that is reached at some values,
    and ValueError for a term that the parameters' terms do not leave linear."""

    def __init__(self, values, file):
        self.values = values
        self.file = file

    def body(self, tree, rate, floor):
        """The formula that the rate, a term, is what a body returns, or the floor, if that is more."""
        if not isinstance(tree, If):
            return self.leaf(tree, rate, floor)
        test = self.condition(tree.test)
        if isinstance(test, bool):
            return self.body(tree.then if test else tree.other, rate, floor)
        return every(
            implies(test, self.body(tree.then, rate, floor)), implies(no(test), self.body(tree.other, rate, floor))
        )

    def leaf(self, tree, rate, floor):
        """The same of the end of a path; of `between(low, high)`: the rate is any from low to high, or the floor."""
        if not isinstance(tree, Between):
            return self.at_least(floor, self.form(tree), rate)
        low, high = self.form(tree.low), self.form(tree.high)
        within = every(rate >= floor, rate >= low, some(rate <= high, rate <= floor))
        return some(low > high, within)

    def unordered(self, tree, reached=()):
        """(condition, line) for each `between(low, high)`: that it is reached, and low > high. What the numbers say is
        never reached may divide by 0."""
        if isinstance(tree, If):
            test = self.condition(tree.test)
            if isinstance(test, bool):
                yield from self.unordered(tree.then if test else tree.other, reached)
            else:
                yield from self.unordered(tree.then, (*reached, test))
                yield from self.unordered(tree.other, (*reached, no(test)))
        elif isinstance(tree, Between):
            yield every(reached, self.form(tree.low) > self.form(tree.high)), tree.line

    def at_least(self, floor, form, rate):
        """rate = max(floor, form), without the choice where one side is never the smaller."""
        larger = form >= floor
        if isinstance(larger, bool):
            return equal(rate, form if larger else floor)
        return is_max(rate, (True, floor), (True, form))

    def form(self, tree):
        """The linear term of a tree."""
        match tree:
            case Number(value):
                return linear(value)
            case Name(name):
                return linear(self.values[name])
            case Binary("+", left, right):
                return self.form(left) + self.form(right)
            case Binary("-", left, right):
                return self.form(left) - self.form(right)
            case Binary("*", left, right):
                return self.product(self.form(left), self.form(right), tree)
            case Binary("/", left, right):
                return self.quotient(self.form(left), self.form(right), tree)
            case Extreme(pick, terms):
                first = operator.ge if pick == "max" else operator.le
                return reduce(lambda a, b: choice(first(a, b), a, b), map(self.form, terms))
            case If(test, then, other):
                return self.conditional(self.condition(test), then, other)
        raise TypeError(f"no term: {tree!r}")

    def difference(self, tree):
        """The left side of a Comparison less the right one."""
        return self.form(tree.left) - self.form(tree.right)

    def product(self, left, right, tree):
        """left·right, of linear terms, one of which is a number; tree: for messages."""
        if left.coefficients:
            left, right = right, left
        if left.coefficients:
            raise ValueError(f"`{text(tree)}` is not linear: R_m and D have to be numbers")
        return right * left.constant

    def quotient(self, left, right, tree):
        """left/right, of a linear term and a number other than 0; tree: for messages."""
        if right.coefficients:
            raise ValueError(f"`{text(tree)}` is not linear: R_m and D have to be numbers")
        if right.constant == 0:
            message = f"divides by `{text(tree.right)}`, which is 0 here; expected a divisor other than 0"
            raise InputError(message, self.file, tree.line)
        return left / right.constant

    def conditional(self, test, then, other):
        """One branch where the test is decided, so that the other may divide by 0; else a solver's choice."""
        if isinstance(test, bool):
            return self.form(then if test else other)
        return choice(test, self.form(then), self.form(other))

    def condition(self, tree):
        """The formula of a condition; True or False where the numbers decide it."""
        match tree:
            case Comparison(op, left, right):
                return _COMPARE[op](self.form(left), self.form(right))
            case Logic(op, parts):
                return self.logic(op == "and", parts)
            case Not(part):
                return no(self.condition(part))
        raise TypeError(f"no condition: {tree!r}")

    def logic(self, is_and, parts):
        """All of the conditions, or any. As Python does, those after one that decides the outcome are left alone."""
        undecided = []
        for part in parts:
            condition = self.condition(part)
            if not isinstance(condition, bool):
                undecided.append(condition)
            elif condition != is_and:
                return condition
        return every(undecided) if is_and else some(undecided)


def keeps_sign(here, further):
    """Whether a term that moves on from `here` as it does from here to `further` never changes its sign: linear terms,
    here of the least value of an unknown, further of the next."""
    step = further - here
    if step.coefficients:
        return False
    return step.constant == 0 or (not here.coefficients and step.constant * here.constant > 0)
