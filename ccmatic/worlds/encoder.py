"""An encoder of trees as formulas that are linear in the terms of the parameters."""

import operator
from functools import partial, reduce

from ccmatic.language import ARITHMETIC, ORDER, Between, If, Local, VectorWalker, componentwise
from ccmatic.logic import Linear, choice, equal, every, implies, is_max, linear, no, some
from ccmatic.worlds.text import text

_COMPARE = {**ORDER, "==": equal, "!=": lambda left, right: no(equal(left, right))}


class Encoder(VectorWalker):
    """Encodes trees of `ccmatic.language.tree`, given a term or a number for each name; R_m and D are numbers."""

    WORLD = "linear formula"

    def __init__(self, values, file):
        super().__init__(file)
        self.values = values

    @property
    def values(self):
        return self._values

    @values.setter
    def values(self, values):
        self._values = values
        self.forget()

    def body(self, tree, rate, floor):
        if not isinstance(tree, If):
            return self.leaf(tree, rate, floor)
        test = self.condition(tree.test)
        if isinstance(test, bool):
            return self.body(tree.then if test else tree.other, rate, floor)
        return every(
            implies(test, self.body(tree.then, rate, floor)), implies(no(test), self.body(tree.other, rate, floor))
        )

    def leaf(self, tree, rate, floor):
        """For `between(low, high)`, the rate is any value from low to high; the floor if it exceeds high."""
        if not isinstance(tree, Between):
            return self.at_least(floor, self.form(tree), rate)
        low, high = self.form(tree.low), self.form(tree.high)
        within = every(rate >= floor, rate >= low, some(rate <= high, rate <= floor))
        return some(low > high, within)

    def unordered(self, tree, reached=()):
        """Yield (condition, line) for each `between(low, high)`: execution reaches this line with low > high.

        Branches that numbers exclude are skipped, so these branches may divide by 0.
        """
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
        """Return the formula rate = max(floor, form). If both sides are numbers, the formula contains no choice."""
        larger = form >= floor
        if isinstance(larger, bool):
            return equal(rate, form if larger else floor)
        return is_max(rate, (True, floor), (True, form))

    def form(self, tree):
        return self.walk(tree)

    def condition(self, tree):
        return self.walk(tree)

    def difference(self, tree):
        return self.form(tree.left) - self.form(tree.right)

    def visit_Number(self, node):
        return linear(node.value)

    def visit_Name(self, node):
        return linear(self.values[node.name])

    def visit_Binary(self, node):
        left, right = (yield node.left), (yield node.right)
        match node.op:
            case "*":
                return componentwise(partial(self.product, node), left, right)
            case "/":
                return componentwise(partial(self.quotient, node), left, right)
        return componentwise(ARITHMETIC[node.op], left, right)

    def visit_Extreme(self, node):
        first = operator.ge if node.pick == "max" else operator.le
        terms = yield from self.results(node.terms)
        return reduce(partial(componentwise, lambda a, b: choice(first(a, b), a, b)), terms)

    def visit_Function(self, node):
        names = (each.name for _, each, _ in reversed(self._open) if isinstance(each, Local))
        what = f"`{name}` is made of a {node.name}, which" if (name := next(names, None)) else node.name
        expected = "ReLU, `max(0, x)`, in its place; `export` and `emulate` take it as it is"
        self.refuse(node, f"{what} is not linear; expected {expected}")

    def visit_If(self, node):
        """Encode only one branch if numbers decide the test; the other branch may then divide by 0.

        If numbers do not decide the test, the result is a choice that a solver makes.
        """
        test = yield node.test
        if isinstance(test, bool):
            return (yield node.then if test else node.other)
        then, other = (yield node.then), (yield node.other)
        return componentwise(partial(choice, test), then, other)

    def visit_Comparison(self, node):
        left, right = (yield node.left), (yield node.right)
        return _COMPARE[node.op](left, right)

    def visit_Logic(self, node):
        """As in Python, evaluation stops at the first condition that decides the result."""
        is_and, undecided = node.op == "and", []
        for part in node.parts:
            condition = yield part
            if not isinstance(condition, bool):
                undecided.append(condition)
            elif condition != is_and:
                return condition
        return every(undecided) if is_and else some(undecided)

    def visit_Not(self, node):
        return no((yield node.part))

    def weighted(self, weights, vector, bias):
        return _weighted(weights, vector, bias)

    def product(self, node, left, right):
        """Return left·right for a linear term and a number, in either order."""
        if left.coefficients:
            left, right = right, left
        if left.coefficients:
            self.refuse(node, f"`{text(node)}` is a product of two unknowns, which has no {self.WORLD}")
        return right * left.constant

    def quotient(self, node, left, right):
        """Return left/right for a linear term and a nonzero number."""
        if right.coefficients:
            self.refuse(node, f"`{text(node)}` is a division by an unknown, which has no {self.WORLD}")
        if right.constant == 0:
            self.refuse(node, f"divides by `{text(node.right)}`, which is 0 here; expected a divisor other than 0")
        return left / right.constant


def _weighted(row, vector, bias):
    """Return Σ weight·term + bias, in time linear in the number of unknowns."""
    sums, constant = {}, bias
    for weight, term in zip(row, vector, strict=True):
        constant += weight * term.constant
        for unknown, coefficient in term.coefficients.items():
            sums[unknown] = sums.get(unknown, 0) + weight * coefficient
    return Linear({unknown: total for unknown, total in sums.items() if total}, constant)


def keeps_sign(here, further):
    """Return whether a linear term has the same sign for all larger values of an unknown, which grows in equal steps.

    `here` is the term for the unknown's smallest value, `further` for its next value.
    """
    step = further - here
    if step.coefficients:
        return False
    return step.constant == 0 or (not here.coefficients and step.constant * here.constant > 0)
