"""The reader of terms in a controller with state.

In addition to the terms of other controllers, these terms may contain past observations, extremes over several steps,
and laws with bounds.
"""

import ast
import operator
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import partial, reduce

from ccmatic.base import CONSTANTS, NUMBER, TIME, Unit
from ccmatic.language.beliefs import Belief, Observation
from ccmatic.language.passes import First
from ccmatic.language.reader import KNOWN, Reader
from ccmatic.language.scope import Meaning, Term, as_condition, as_term
from ccmatic.language.tree import (
    AnyOf,
    Between,
    Binary,
    Bounded,
    Extreme,
    Function,
    If,
    Logic,
    Name,
    Number,
    Past,
    Tree,
    bare,
    parts,
)
from ccmatic.language.walker import Visit, Walker

TRUTH = {True: Logic("and", ()), False: Logic("or", ())}

#: The highest power that may occur in a law.
_HIGHEST = 9
_ALONE = {"any_of": "any_of(a, b)", "between": "between(low, high)", "bounded": "bounded(law, low, high)"}
_BOUNDED = "a law between bounds: `window = bounded(law, low, high)`"


class TermReader(Reader):
    def __init__(
        self, source: str, observations: Mapping[str, Observation], beliefs: Mapping[str, Belief], file: str | None
    ) -> None:
        units = {each.name: each.unit for each in observations.values()}
        super().__init__(source, {**units, **CONSTANTS}, (), file)
        self.observations, self.beliefs = observations, beliefs
        self.units |= {each.name: each.unit for each in beliefs.values()}
        self.reserved |= {"any_of", "bounded", "cbrt", "max_over", "min_over"}
        self.in_law = False
        few = frozenset(each.name for each in observations.values() if each.few)
        self.few = _Few(few).walk
        self.choice_with_few = First(lambda node: isinstance(node, If) and self.few(node, True)).walk
        self.product_with_few = First(self._multiplies_few).walk
        self.has_root = First(lambda node: isinstance(node, Function)).walk
        self.has_choice = First(lambda node: isinstance(node, If)).walk

    def _multiplies_few(self, node: Tree) -> bool:
        """Return whether a node multiplies a count of whole steps by an unknown term."""
        if not isinstance(node, Binary) or node.op != "*":
            return False
        factors = (node.left, node.right), (node.right, node.left)
        return any(self.few(one, True) and not self.is_known(other) for one, other in factors)

    def in_unit(self, name: str, unit: Unit | str, node: ast.expr) -> Tree:
        tree, term_unit = self.expression(node)
        if term_unit not in (None, unit):
            self.fail(node, f"sets `{name}` ({unit}) to `{ast.unparse(node)}` ({term_unit}), expected the same unit")
        if few := self.few(tree, False):
            self.check_time(name, unit, node, tree, few)
        return self.whole(node, tree)

    def check_time(self, name: str, unit: Unit | str, node: ast.expr, tree: Tree, few: str) -> None:
        """State of unit `time` may only grow linearly with a delay, or be a maximum or minimum of such terms."""
        refused = f"sets `{name}` by `{few}`, which is not always known"
        if unit != TIME:
            self.fail(node, f"{refused}; expected `{few}` in a comparison, or in state of unit `time`")
        if self.choice_with_few(tree):
            self.fail(node, f"{refused}, in a choice; expected `if` before")
        if self.product_with_few(tree):
            self.fail(
                node, f"{refused}, and multiplies it by an unknown; expected only numbers, R_m, D and step as factors"
            )

    def name(self, node: ast.Name) -> Meaning:
        tree, unit = super().name(node)
        if isinstance(tree, AnyOf | Between | Bounded):
            self.fail(
                node, f"reads `{node.id}` after the network has chosen it, expected it to be read at the next step"
            )
        return tree, unit

    def value(self, node: ast.expr) -> Meaning:
        match node:
            case ast.Subscript(value=ast.Name() as observed) if observed.id in self.observations:
                return self.past(node, observed)
        return super().value(node)

    def expression(self, node: ast.expr) -> Term:
        match node:
            case ast.Subscript(value=ast.Name() as observed) if observed.id in self.observations:
                if term := as_term(self.past(node, observed)):
                    return term
            case ast.Subscript(value=ast.Name(id=name)) if name in self.beliefs and not self.is_row(node.value):
                self.fail(node, f"found `{ast.unparse(node)}`, expected `{name}`, or state in which it was kept")
            case ast.Call(func=ast.Name(id="max_over" | "min_over" as called)):
                return self.extreme_over(node, called)
            case ast.Call(func=ast.Name(id=called)) if called in _ALONE:
                self.fail(
                    node, f"found `{ast.unparse(node)}` in a term, expected it alone: `window = {_ALONE[called]}`"
                )
            case ast.BinOp(op=ast.Pow()) | ast.Call(func=ast.Name(id="cbrt")):
                return self.power(node)
        return super().expression(node)

    def law(self, name: str, unit: Unit | str, node: ast.expr) -> Tree:
        """Read a law, linear or not, for a state variable of this unit. Solvers use only the law's bounds."""
        self.in_law = True
        tree, term_unit = self.expression(node)
        self.in_law = False
        if term_unit not in (None, unit):
            self.fail(node, f"sets `{name}` ({unit}) by `{ast.unparse(node)}` ({term_unit}), expected the same unit")
        return self.whole(node, tree)

    def power(self, node: ast.BinOp | ast.Call) -> Term:
        """Read a root `cbrt(x)` or a power `x ** 3`."""
        if not self.in_law:
            self.fail(node, f"found `{ast.unparse(node)}`, which is not linear; expected {_BOUNDED}")
        match node:
            case ast.Call(args=[root], keywords=[]):
                tree, unit = self.expression(root)
                if unit in (None, NUMBER):
                    return Function("cbrt", (tree,), node.lineno), unit
            case ast.BinOp(left=base, right=ast.Constant(value=int(times))) if 2 <= times <= _HIGHEST:
                tree, unit = self.expression(base)
                unit = unit or NUMBER
                return reduce(partial(Binary, "*"), [tree] * times), reduce(operator.mul, [unit] * times)
        text = ast.unparse(node)
        self.fail(node, f"found `{text}`, expected cbrt(…) of a number, or a power from 2 to {_HIGHEST}")

    def check_product(self, node: ast.BinOp, left: Tree, right: Tree) -> None:
        if not self.in_law:
            super().check_product(node, left, right)

    def check_division(self, node: ast.BinOp, divisor: Tree) -> None:
        if not self.in_law or not (self.read_names(divisor) or self.has_root(divisor)):
            super().check_division(node, divisor)

    def past(self, node: ast.Subscript, observed: ast.Name) -> Meaning:
        """Read `acked[step]`, the value of an observation at a known time before."""
        name = observed.id
        _, unit = self.name(observed)
        back, time_unit = self.expression(node.slice)
        if time_unit not in (None, TIME) or not self.is_known(back):
            self.fail(
                node, f"found `{ast.unparse(node)}`, expected a time before made of {', '.join((*KNOWN, 'step'))}"
            )
        if self.observations[name].constant:
            self.fail(node, f"found `{ast.unparse(node)}`, expected `{name}`, which is the same at each step")
        return Past(name, back, node.lineno), unit

    def extreme_over(self, node: ast.Call, called: str) -> Term:
        """Read `max_over(ack_rate, 4)`, the largest value of an observation in the last four steps."""
        match node:
            case ast.Call(args=[ast.Name(id=name) as observed, last], keywords=[]) if name in self.observations:
                steps, unit = self.expression(last)
            case _:
                text = ast.unparse(node)
                self.fail(node, f"found `{text}`, expected `{called}(NAME, STEPS)` of the name of an observation")
        is_number = unit == NUMBER and not self.read_names(steps)
        count = self.value_of(steps) if is_number else Fraction(0)
        if count.denominator != 1 or count < 1:
            self.fail(node, f"found `{ast.unparse(node)}`, expected a whole number of steps, at least 1")
        self.count(node, int(count))
        term = as_term(self.name(observed))
        if term is None or self.observations[name].constant:
            self.fail(node, f"found `{ast.unparse(node)}`, expected an observation that is a number and that changes")
        now, unit = term
        terms = [now]
        for back in range(1, int(count)):
            before = Binary("*", Number(Fraction(back)), Name("step"))
            terms.append(Past(name, before, node.lineno))
        return Extreme(called.removesuffix("_over"), tuple(terms)), unit

    def condition(self, node: ast.expr) -> Tree:
        match node:
            case ast.Constant(value=bool(truth)):
                return TRUTH[truth]
            case ast.Subscript(value=ast.Name() as observed) if observed.id in self.observations:
                if tree := as_condition(self.past(node, observed)):
                    return tree
        return super().condition(node)

    def comparison(self, node: ast.Compare) -> Tree:
        """A comparison that reads an unknown observation is false.

        Therefore, the whole comparison must read the observation, and not only one branch of a conditional term.
        """
        tree = super().comparison(node)
        if few := self.choice_with_few(tree):
            self.fail(node, f"compares a choice that reads `{few}`, which is not always known; expected `if` before")
        return tree

    def is_known(self, tree: Tree) -> bool:
        return self.read_names(tree) <= {*KNOWN, "step"}

    def is_factor(self, tree: Tree) -> bool:
        """Factors are known numbers, counts of whole steps, which have finitely many values, and choices of factors."""
        tree = bare(tree)
        if isinstance(tree, If):
            return self.is_factor(tree.then) and self.is_factor(tree.other)
        few = () if self.has_choice(tree) else (each.name for each in self.observations.values() if each.few)
        return self.read_names(tree) <= {*KNOWN, "step", *few}


class _Few(Walker[str | None]):
    """Finds the name of a count of whole steps that a term reads.

    `in_tests` states whether the search includes the tests of conditional terms.
    """

    def __init__(self, few: frozenset[str]) -> None:
        super().__init__()
        self.few = few

    def visit_Name(self, node: Name, in_tests: bool) -> str | None:
        return node.name if node.name in self.few else None

    def visit_If(self, node: If, in_tests: bool) -> Visit[str | None]:
        return (yield from self.first(parts(node) if in_tests else (node.then, node.other), in_tests))

    def visit_object(self, node: Tree, in_tests: bool) -> Visit[str | None]:
        return (yield from self.first(parts(node), in_tests))

    visit_Function = visit_object

    def first(self, several: Iterable[Tree], in_tests: bool) -> Visit[str | None]:
        for part in several:
            if name := (yield part, in_tests):
                return name
        return None
