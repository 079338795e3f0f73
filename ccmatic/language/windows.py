"""Reads a program over a window: functions of what a sender has observed in it, step by step.

A program is a module of plain functions. `def NAME(parameters)` returns a term or a condition at the current step. Its
parameters are observations, constants, beliefs, and functions before it. `acked[k]` is the value of `acked` at the time
k before. Comprehensions in max(…), min(…), all(…) and any(…) go over times before: `for k in past` over each step back
to the begin of the window, and `for j in since(k)` over the current step and those before, but not k itself. Each stays
one node, of which a compiler makes a loop, a mask or many terms.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ccmatic.base import CONDITION, CONSTANTS, TIME, InputError, Unit
from ccmatic.language.reader import KNOWN, Reader, parsed
from ccmatic.language.scope import Meaning, Row, Term, as_condition, as_term
from ccmatic.language.statements import first_line
from ccmatic.language.tree import If, Logic, Name, Past, Tree, parts

#: What every function may read besides constants: the length of a step, and how long ago the window began.
CLOCK = {"step": TIME, "time": TIME}

_PICKS = {"max", "min", "all", "any"}
_OVER = "`for k in past` or `for j in since(k)`"
_TRUTH = {True: Logic("and", ()), False: Logic("or", ())}


@dataclass(frozen=True)
class Each(Tree):
    """The largest or smallest term, or whether all or any conditions hold, over times before now.

    pick: `max`, `min`, `all` or `any`. index: the name of the time. since: the index of an outer comprehension, over
    whose time this one goes; None: it goes over the whole window. term: of the index. test: only times for which this
    condition holds; None: all.
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
    """The functions of a program over a window, in order: (tree, unit) by name.

    Args:
        source: The text of the program.
        units: The unit of each observation, by name.
        beliefs: The unit of each belief that functions read or define, by name.
        file: The file of the source, for messages.

    Raises:
        InputError: The text is no such program; with the line.
    """
    return parsed(source, file, _WindowReader(source, units, beliefs, file).functions)


def within(tree: Tree) -> tuple[Tree, ...]:
    """The trees that a tree is made of, also of an `Each` and of a `Past`."""
    if isinstance(tree, Each):
        return (tree.term,) if tree.test is None else (tree.term, tree.test)
    if isinstance(tree, Past):
        return (tree.back,)
    return parts(tree)


def reads(tree: Tree, definitions: Mapping[str, Tree]) -> set[str]:
    """The names that a tree reads, also by the definitions (trees by name) that it reads in turn."""
    name = {tree.name} if isinstance(tree, Name) else set[str]()
    return name.union(
        *(reads(part, definitions) for part in within(tree)),
        *(reads(definitions[each], definitions) for each in name & definitions.keys()),
    )


class _WindowReader(Reader):
    """As its base, of several functions, each of which returns a term of any unit or a condition."""

    takes_tanh = False

    def __init__(
        self, source: str, units: Mapping[str, Unit | str], beliefs: Mapping[str, Unit | str], file: str | None
    ) -> None:
        super().__init__(source, {**units, **beliefs, **CLOCK, **CONSTANTS}, (), file)
        self.reserved |= {"past", "since", *_PICKS}
        self.beliefs = beliefs
        self.indices: list[str] = []
        self.unit: Unit | str | None = None

    def functions(self, module: ast.Module) -> dict[str, tuple[Tree, Unit | str | None]]:
        results: dict[str, tuple[Tree, Unit | str | None]] = {}
        for statement in self.whole_module(module):
            if not isinstance(statement, ast.FunctionDef):
                self.fail(statement, f"found `{first_line(statement)}`, expected only functions `def NAME(...)`")
            name = statement.name
            if name in results or (name in self.units and name not in self.beliefs):
                self.fail(statement, f"defines `{name}`, which has a meaning already; expected another name")
            tree = self.one(statement)
            if name not in self.beliefs:
                self.units[name] = self.unit
            elif self.unit not in (None, self.units[name]):
                self.fail(statement, f"`{name}` ({self.units[name]}) is {self.unit}, expected the same unit")
            results[name] = tree, self.units[name]
        return results

    def one(self, function: ast.FunctionDef) -> Tree:
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
        """What is assigned is written out: what should be shared is a function of its own."""
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
                if term := as_term(self.each(node, pick)):
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
                if tree := as_condition(self.each(node, pick)):
                    return tree
        return super().condition(node)

    def past(self, node: ast.Subscript) -> Meaning:
        """`acked[k]`: what a name stood for the time k before."""
        if not isinstance(node.value, ast.Name):
            self.fail(node, f"found `{ast.unparse(node)}`, expected the name of an observation before `[`")
        tree, unit = self.name(node.value)
        back, time_unit = self.expression(node.slice)
        if time_unit not in (None, TIME) or not self.is_known(back) or not isinstance(tree, Name):
            self.fail(node, f"found `{ast.unparse(node)}`, expected a time before, such as `acked[k]`")
        return Past(tree.name, back, node.lineno), unit

    def each(self, node: ast.Call, pick: str) -> Meaning:
        """A comprehension, and its unit."""
        match node.args[0]:
            case ast.GeneratorExp(
                elt=term, generators=[ast.comprehension(target=ast.Name(id=index), iter=over, ifs=tests, is_async=0)]
            ) if not node.keywords:
                since = self.since(over)
            case _:
                self.fail(node, f"found `{ast.unparse(node)}`, expected one {_OVER}")
        if index in self.reserved or index in self.names:
            self.fail(node, f"goes over `{index}`, which has a meaning already; expected another name")
        self.names[index] = Name(index), TIME
        self.indices.append(index)
        conditions = [self.condition(test) for test in tests]
        test = Logic("and", tuple(conditions)) if conditions else None
        tree, unit = (self.condition(term), CONDITION) if pick in ("all", "any") else self.expression(term)
        self.indices.remove(index)
        del self.names[index]
        return Each(pick, index, since, tree, test, node.lineno), unit

    def since(self, over: ast.expr) -> str | None:
        times = (*self.indices, "time")
        match over:
            case ast.Name(id="past"):
                return None
            case ast.Call(func=ast.Name(id="since"), args=[ast.Name(id=outer)], keywords=[]) if outer in times:
                return outer
        self.fail(over, f"goes over `{ast.unparse(over)}`, expected {_OVER}")

    def is_known(self, tree: Tree) -> bool:
        return not isinstance(tree, Each) and self.read_names(tree) <= {*KNOWN, *CLOCK, *self.indices}

    def is_factor(self, tree: Tree) -> bool:
        return self.is_known(tree)


def conjuncts(test: Tree | None) -> list[Tree]:
    """The conditions that a test is all of; none of None."""
    if isinstance(test, Logic) and test.op == "and":
        return [part for each in test.parts for part in conjuncts(each)]
    return [] if test is None else [test]


def is_of_times(tree: Tree, index: str) -> bool:
    """Whether a condition reads constants and times alone, among them the index of a comprehension: then it is decided
    before anything is observed."""
    return reads(tree, {}) <= {*CLOCK, *CONSTANTS, index} and not any(
        isinstance(part, Past | Each) for part in _all(tree)
    )


def _all(tree: Tree) -> Iterator[Tree]:
    yield tree
    for part in within(tree):
        yield from _all(part)


def each_of(tree: Tree, definitions: Mapping[str, Tree]) -> Each:
    """The `Each` that a tree is, by name or by itself. Raises InputError if it is none."""
    while isinstance(tree, Name) and tree.name in definitions:
        tree = definitions[tree.name]
    if not isinstance(tree, Each):
        raise InputError("a running bound returns no samples; expected max(… for k in past) or min(… for k in past)")
    return tree
