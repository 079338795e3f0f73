"""The reader of programs over a window. Such programs compute with a sender's observations at the steps of a window.

A program is a module of functions. `def NAME(parameters)` returns a term or a condition at the current step. The
parameters are observations, constants, beliefs, and earlier functions. `acked[k]` is the value of `acked` at a time k
before the current step.

Comprehensions inside max(…), min(…), all(…) and any(…) range over earlier times. `for k in past` visits each step back
to the start of the window. `for j in since(k)` visits the current step and the steps before it, up to but excluding k.
The reader keeps each comprehension as one node. A compiler turns the node into a loop, a mask or many terms.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ccmatic.base import CONDITION, CONSTANTS, TIME, InputError, Unit
from ccmatic.language.reader import KNOWN, Reader, parsed
from ccmatic.language.scope import Meaning, Row, Term, as_condition, as_term
from ccmatic.language.source import first_line
from ccmatic.language.tree import Binary, Extreme, If, Logic, Name, Number, Past, Tree, parts

#: The names that every function may read in addition to constants: the length of a step, and the age of the window.
CLOCK = {"step": TIME, "time": TIME}

_PICKS = {"max", "min", "all", "any"}
_OVER = "`for k in past` or `for j in since(k)`"
_TRUTH = {True: Logic("and", ()), False: Logic("or", ())}


@dataclass(frozen=True)
class Comprehension(Tree):
    """A comprehension over earlier times: the largest or smallest term, or whether all or any conditions hold.

    Attributes:
        pick: `max`, `min`, `all` or `any`.
        index: The name of the time variable.
        since: The index of an enclosing comprehension. This comprehension visits only times after the time of that
            index. None stands for the whole window.
        term: The term or condition, as a function of the index.
        test: The condition on the times that the comprehension visits; None if it visits all times.
    """

    pick: str
    index: str
    since: str | None
    term: Tree
    test: Tree | None = None
    line: int | None = field(default=None, compare=False)


def read_window(
    source: str, units: Mapping[str, Unit | str], beliefs: Mapping[str, Unit | str], file: str | None = None
) -> dict[str, tuple[Tree, Unit | str | None]]:
    """Read the functions of a program over a window of observations: a (tree, unit) pair per function, by name."""
    return parsed(source, file, _WindowReader(source, units, beliefs, file).functions)


def within(tree: Tree) -> tuple[Tree, ...]:
    """Return the direct subtrees, including those of a `Comprehension` and of a `Past`."""
    if isinstance(tree, Comprehension):
        return (tree.term,) if tree.test is None else (tree.term, tree.test)
    if isinstance(tree, Past):
        return (tree.back,)
    return parts(tree)


def reads(tree: Tree, definitions: Mapping[str, Tree]) -> set[str]:
    """Return the names that a tree reads, directly or through `definitions` (trees by name)."""
    name = {tree.name} if isinstance(tree, Name) else set[str]()
    return name.union(
        *(reads(part, definitions) for part in within(tree)),
        *(reads(definitions[each], definitions) for each in name & definitions.keys()),
    )


class _WindowReader(Reader):
    takes_tanh = False

    def __init__(
        self, source: str, units: Mapping[str, Unit | str], beliefs: Mapping[str, Unit | str], file: str | None
    ) -> None:
        super().__init__(source, {**units, **beliefs, **CLOCK, **CONSTANTS}, (), file)
        self.reserved |= {"past", "since", *_PICKS}
        self.beliefs = beliefs
        self.since_when: dict[str, str | None] = {}
        self.unit: Unit | str | None = None

    def functions(self, module: ast.Module) -> dict[str, tuple[Tree, Unit | str | None]]:
        results: dict[str, tuple[Tree, Unit | str | None]] = {}
        for statement in self.whole_module(module):
            if not isinstance(statement, ast.FunctionDef):
                self.fail(statement, f"found `{first_line(statement)}`, expected only functions `def NAME(...)`")
            name = statement.name
            if name in results or (name in self.units and name not in self.beliefs):
                self.fail(statement, f"defines `{name}`, which has a meaning already; expected another name")
            tree = self.read_function(statement)
            if name not in self.beliefs:
                self.units[name] = self.unit
            elif self.unit not in (None, self.units[name]):
                self.fail(statement, f"`{name}` ({self.units[name]}) is {self.unit}, expected the same unit")
            results[name] = tree, self.units[name]
        return results

    def read_function(self, function: ast.FunctionDef) -> Tree:
        self.names, self.unit = {}, None
        _, body = self.begin(function)
        return self.block(body, function)

    def returned(self, statement: ast.Return) -> Tree:
        self.count(statement)
        if statement.value is None:
            self.fail(statement, "found `return` alone, expected a term after it")
        tree, unit = self.value(statement.value)
        if isinstance(tree, Row):
            self.fail(statement, f"found `{first_line(statement)}`, expected a term or a condition after `return`")
        if None not in (unit, self.unit) and unit != self.unit:
            self.fail(statement, f"returns {unit}, and {self.unit} elsewhere; expected one unit")
        self.unit = unit or self.unit
        return self.whole(statement.value, tree)

    def named(self, name: str, node: ast.expr, meaning: Meaning) -> Meaning:
        """Expand an assigned value wherever the program reads it. Only functions are shared."""
        tree, unit = meaning
        return meaning if isinstance(tree, Row) else (self.whole(node, tree), unit)

    def value(self, node: ast.expr) -> Meaning:
        match node:
            case ast.Call(func=ast.Name(id="all" | "any")):
                return self.condition(node), CONDITION
            case ast.Subscript():
                return self.past(node)
        return super().value(node)

    def expression(self, node: ast.expr) -> Term:
        match node:
            case ast.Subscript():
                if term := as_term(self.past(node)):
                    return term
            case ast.Call(func=ast.Name(id="max" | "min" as pick), args=[ast.GeneratorExp()]):
                if term := as_term(self.comprehension(node, pick)):
                    return term
        return super().expression(node)

    def condition(self, node: ast.expr) -> Tree:
        match node:
            case ast.Constant(value=bool(truth)):
                return _TRUTH[truth]
            case ast.IfExp(test=test, body=then, orelse=other):
                return If(self.condition(test), self.condition(then), self.condition(other))
            case ast.Subscript():
                if tree := as_condition(self.past(node)):
                    return tree
            case ast.Call(func=ast.Name(id="all" | "any" as pick), args=[ast.GeneratorExp()]):
                if tree := as_condition(self.comprehension(node, pick)):
                    return tree
        return super().condition(node)

    def past(self, node: ast.Subscript) -> Meaning:
        """Read `acked[k]`, the value of a name at a time k before."""
        if not isinstance(node.value, ast.Name):
            self.fail(node, f"found `{ast.unparse(node)}`, expected the name of an observation before `[`")
        tree, unit = self.name(node.value)
        back, time_unit = self.expression(node.slice)
        if time_unit not in (None, TIME) or not self.is_known(back) or not isinstance(tree, Name):
            self.fail(node, f"found `{ast.unparse(node)}`, expected a time before, such as `acked[k]`")
        bound = least_back(back, self.since_when)
        if bound is None or bound < 0:
            problem = f"found `{ast.unparse(node)}`, which may read a future step"
            suggestion = f"`{tree.name}[max(0, {ast.unparse(node.slice)})]`"
            self.fail(node, f"{problem}; expected an offset of at least 0, such as {suggestion}")
        return Past(tree.name, back, node.lineno), unit

    def comprehension(self, node: ast.Call, pick: str) -> Meaning:
        """Read a comprehension, and return it with its unit."""
        match node.args[0]:
            case ast.GeneratorExp(
                elt=term, generators=[ast.comprehension(target=ast.Name(id=index), iter=over, ifs=tests, is_async=0)]
            ) if not node.keywords:
                since = self.since(over)
            case _:
                self.fail(node, f"found `{ast.unparse(node)}`, expected one {_OVER}")
        if self.is_reserved(index) or index in self.names:
            self.fail(node, f"goes over `{index}`, which has a meaning already; expected another name")
        self.names[index] = Name(index), TIME
        self.since_when[index] = since
        conditions = [self.condition(test) for test in tests]
        test = Logic("and", tuple(conditions)) if conditions else None
        tree, unit = (self.condition(term), CONDITION) if pick in ("all", "any") else self.expression(term)
        del self.since_when[index]
        del self.names[index]
        return Comprehension(pick, index, since, tree, test, node.lineno), unit

    def since(self, over: ast.expr) -> str | None:
        times = (*self.since_when, "time")
        match over:
            case ast.Name(id="past"):
                return None
            case ast.Call(func=ast.Name(id="since"), args=[ast.Name(id=outer)], keywords=[]) if outer in times:
                return outer
        self.fail(over, f"goes over `{ast.unparse(over)}`, expected {_OVER}")

    def is_known(self, tree: Tree) -> bool:
        return not isinstance(tree, Comprehension) and self.read_names(tree) <= {*KNOWN, *CLOCK, *self.since_when}

    def is_factor(self, tree: Tree) -> bool:
        return self.is_known(tree)


def conjuncts(test: Tree | None) -> list[Tree]:
    if isinstance(test, Logic) and test.op == "and":
        return [part for each in test.parts for part in conjuncts(each)]
    return [] if test is None else [test]


def is_of_times(tree: Tree, index: str) -> bool:
    """Return whether a condition reads only constants and times, so that its truth is known before any observation."""
    return reads(tree, {}) <= {*CLOCK, *CONSTANTS, index} and not any(
        isinstance(part, Past | Comprehension) for part in _all(tree)
    )


def _all(tree: Tree) -> Iterator[Tree]:
    yield tree
    for part in within(tree):
        yield from _all(part)


def comprehension_of(tree: Tree, definitions: Mapping[str, Tree]) -> Comprehension:
    """Return the `Comprehension` that a tree denotes, directly or through a name in `definitions`."""
    while isinstance(tree, Name) and tree.name in definitions:
        tree = definitions[tree.name]
    if not isinstance(tree, Comprehension):
        raise InputError("a running bound returns no samples; expected max(… for k in past) or min(… for k in past)")
    return tree


#: A linear form: a mapping from each name to its coefficient. The entry of the empty name is the constant.
_Form = dict[str, Fraction]

#: Lower bounds, in steps, on multiples of a constant and on multiples of R_m.
_LEAST = {"": Fraction(1), "R_m": Fraction(1)}


def least_back(back: Tree, since: Mapping[str, str | None]) -> Fraction | None:
    """Return a lower bound on a time offset in steps; None if no bound is known.

    `since` has, for each comprehension, the outermost first, the time that its own time must follow; None if its time
    ranges over the whole window.
    """
    match back:
        case Extreme(pick, terms):
            bounds = [least_back(term, since) for term in terms]
            known = [bound for bound in bounds if bound is not None]
            if pick == "max":
                return max(known, default=None)
            return min(known) if len(known) == len(bounds) else None
        case If(_, then, other):
            bounds = [least_back(then, since), least_back(other, since)]
            return None if None in bounds else min(bound for bound in bounds if bound is not None)
    form = _linear(back)
    return None if form is None else _least_of(form, since)


def _least_of(form: _Form, since: Mapping[str, str | None]) -> Fraction | None:
    """Return a lower bound on the value of a linear form.

    A time that follows another time is smaller by at least one step. Each time is at most the age of the window.
    """
    for index, outer in reversed([*since.items()]):
        coefficient = form.get(index, Fraction(0))
        if coefficient < 0:
            most = {"time": Fraction(1)} if outer is None else {outer: Fraction(1), "": Fraction(-1)}
            form = _sum({**form, index: Fraction(0)}, most, coefficient)
    bounds = {**_LEAST, **{index: Fraction(outer is None) for index, outer in since.items()}}
    if any(coefficient < 0 and name for name, coefficient in form.items()):
        return None
    return sum((coefficient * bounds.get(name, 0) for name, coefficient in form.items()), Fraction(0))


def _linear(tree: Tree) -> _Form | None:
    """Return a term as a linear form; None if the term is not linear."""
    match tree:
        case Number(value):
            return {"": value}
        case Name("step"):
            return {"": Fraction(1)}
        case Name(name):
            return {name: Fraction(1)}
        case Binary(op, left, right):
            one, other = _linear(left), _linear(right)
            if one is None or other is None:
                return None
            match op:
                case "+" | "-":
                    return _sum(one, other, Fraction(1 if op == "+" else -1))
                case "*" if one.keys() <= {""} or other.keys() <= {""}:
                    factor, term = (one, other) if one.keys() <= {""} else (other, one)
                    return _sum({}, term, factor.get("", Fraction(0)))
                case "/" if other.keys() == {""} and other[""]:
                    return _sum({}, one, 1 / other[""])
    return None


def _sum(form: _Form, other: _Form, factor: Fraction) -> _Form:
    names = form.keys() | other.keys()
    return {name: form.get(name, Fraction(0)) + factor * other.get(name, Fraction(0)) for name in names}
