"""Terms and conditions of controllers as C code with integers only. Conditions are decided exactly.

A term reads only integers and known numbers, so it is linear with rational coefficients. The C code multiplies the
coefficients by their common denominator, so that the term needs a single division at the end. If the controller reads
an assigned value more than once, the value becomes a C variable. This variable holds the term times its common
denominator.
"""

import re
from fractions import Fraction
from math import lcm

from ccmatic.base import InputError, shown
from ccmatic.language import (
    ARITHMETIC,
    EXTREMES,
    ORDER,
    Affine,
    Binary,
    Comparison,
    Components,
    Extents,
    Extreme,
    If,
    Item,
    Local,
    Logic,
    Name,
    Not,
    Number,
    Walker,
    nodes,
    parts,
)
from ccmatic.worlds.text import text

_C_LOGIC = {"and": " && ", "or": " || "}

#: The largest absolute value of a number in the C code.
MOST = 2**62


class Expression(Walker):
    """Writes the trees of one controller as C code. A subclass defines the C text of names.

    A walk over a tree computes one of four results: `constant` (the exact number of a term, or None), the `leaves` of a
    term, a `term` times a factor, or a `condition`. `constants` has the values of names that stand for known numbers,
    and `functions` the C functions that the code calls; their names begin with `prefix`.
    """

    WORLD = "meaning in C"

    def __init__(self, constants, file):
        super().__init__(file)
        self.constants, self.components, self.extents = constants, Components(), Extents()
        self.often, self.variables, self.declarations, self.made = set(), {}, [], 0
        self.functions, self.prefix = [], "ccm"

    def variable(self, leaf):
        """Return the C expression of a name, the number of its units in 1, and its largest value in these units."""
        raise NotImplementedError

    def truth(self, leaf):
        """Return the C expression of a name that is a condition; True or False if the condition is constant."""
        raise NotImplementedError

    def presumed(self, comparison):
        """Return a further C condition on which a comparison depends, or an empty text."""
        return ""

    def statements(self, tree, leaf):
        """Return the indented statements of a function's body; `leaf` returns those at the end of each path."""
        self.forget()
        self.often, self.variables, self.declarations = self.read_often(tree), {}, []
        return self.body(tree, leaf, "    ")

    def read_often(self, tree):
        seen, often, waiting = {}, set(), [tree]
        while waiting:
            node = waiting.pop()
            while isinstance(node, Item):
                node = self.components.of(node)
            if id(node) in seen:
                often.add(id(node))
            else:
                seen[id(node)] = node
                waiting += parts(node)
        return {each for each in often if isinstance(seen[each], Local)}

    def body(self, tree, leaf, indent):
        """Return the statements of a tree. `leaf` returns the statements at the end of each path."""
        if not isinstance(tree, If):
            statements = leaf(tree)  # first, because these statements determine the variables to declare
            return [f"{indent}{statement}" for statement in (*self.declared(), *statements)]
        test = self.condition(tree.test)
        if isinstance(test, bool):
            return self.body(tree.then if test else tree.other, leaf, indent)
        head = [f"{indent}{statement}" for statement in (*self.declared(), f"if ({test}) {{")]
        outer = len(self._results), len(self.variables)
        then = self.body(tree.then, leaf, indent + "    ")
        for table, size in zip((self._results, self.variables), outer, strict=True):
            while len(table) > size:  # variables of the branch are out of scope after the branch
                table.popitem()
        return [*head, *then, f"{indent}}}", *self.body(tree.other, leaf, indent)]

    def declared(self):
        declarations, self.declarations = self.declarations, []
        return declarations

    def declare(self, kind, local, written):
        """Return the name of a new variable with the given value, or of the variable that is the value."""
        if re.fullmatch(r"[\w.\[\]]+", written):
            return written
        self.made += 1
        name = f"x{self.made}_{local.name}" if local.name.isascii() else f"x{self.made}"
        self.declarations.append(f"const {kind} {name} = {written};")
        return name

    def visit_object(self, node, kind, *context):
        return getattr(self, f"{kind}_of")(node, *context)

    visit_Local = visit_Function = visit_object

    def constant(self, tree):
        return self.walk(tree, "constant")

    def constant_of(self, tree):
        match tree:
            case Number(value):
                return value
            case Local(_, term):
                return (yield term, "constant")
            case Item():
                return (yield self.components.of(tree), "constant")
            case Name(name):
                return self.constants.get(name)
            case Binary(op, left, right):
                values = (yield left, "constant"), (yield right, "constant")
                return None if None in values else self.combined(tree, op, *values)
            case Extreme(pick, terms):
                values = yield from self.results(terms, "constant")
                return None if None in values else EXTREMES[pick](values)
            case If(test, then, other):
                decided = yield test, "condition"
                return (yield then if decided else other, "constant") if isinstance(decided, bool) else None
        return None

    def combined(self, tree, op, left, right):
        if op == "/" and right == 0:
            self.refuse(tree, f"divides by `{text(tree.right)}`, which is 0 here; expected a divisor other than 0")
        return ARITHMETIC[op](left, right)

    def leaves_of(self, tree):
        """Return the absolute coefficients of a term, each with the largest total value that it multiplies.

        The total includes all branches of max, min and if. Variables count as leaves.
        """
        value = yield tree, "constant"
        if value is not None:
            return {abs(value): 1}
        match tree:
            case Local(_, term):
                leaves = yield term, "leaves"
                common, most = _denominator_and_most(leaves)
                if id(tree) not in self.often or (most >= MOST and self.extents.walk(tree).is_written_out):
                    return leaves
                return {Fraction(1, common): most}  # terms with this variable exceed 64 bits, too
            case Item():
                return (yield self.components.of(tree), "leaves")
            case Name():
                _, one, most = self.variable(tree)
                return {Fraction(1, one): most}
            case Binary("+" | "-", left, right):
                return _joined((yield left, "leaves"), (yield right, "leaves"))
            case Binary() if (yield from self.is_product(tree)):
                (first, most), (second, other_most) = yield from self.denominators(tree)
                return {Fraction(1, first * second): most * other_most}
            case Binary():
                scale, rest = yield from self.scaled(tree)
                return _times((yield rest, "leaves"), scale)
            case Extreme(_, terms):
                return _joined(*(yield from self.results(terms, "leaves")))
            case If(test, then, other):
                decided = yield test, "condition"
                branches = [branch for branch, out in ((then, False), (other, True)) if decided is not out]
                return _joined(*(yield from self.results(branches, "leaves")))
        self.refuse(tree, f"`{text(tree)}` has no {self.WORLD}")

    def is_product(self, tree):
        return tree.op == "*" and (yield tree.left, "constant") is None and (yield tree.right, "constant") is None

    def denominators(self, tree):
        return [
            _denominator_and_most(leaves) for leaves in (yield from self.results((tree.left, tree.right), "leaves"))
        ]

    def scaled(self, tree):
        """Return a product or quotient as a number times a term."""
        left, right = (yield tree.left, "constant"), (yield tree.right, "constant")
        if tree.op == "/":
            if right is None:
                self.refuse(tree, f"divides by `{text(tree.right)}`, an unknown, which has no {self.WORLD}")
            return self.combined(tree, "/", Fraction(1), right), tree.left
        return (left, tree.right) if left is not None else (right, tree.left)

    def denominator(self, *trees, factor=Fraction(1)):
        """Return the common denominator of all coefficients, times a factor, if no term may exceed 64 bits."""
        common, most = self.denominator_and_most(*trees, factor=factor)
        if most >= MOST:
            terms = ", ".join(f"`{shown(text(tree), 80)}`" for tree in trees)
            lines = (line for tree in trees for node in nodes(tree) if (line := getattr(node, "line", None)))
            problem = f"{terms} needs more than 64 bits in C; expected smaller coefficients"
            raise InputError(problem, self.file, next(lines, None))
        return common

    def is_wide_layer(self, tree, factor=Fraction(1)):
        """Return whether a term contains a network layer and needs more than 64 bits."""
        _, most = self.denominator_and_most(tree, factor=factor)
        return most >= MOST and any(isinstance(node, Affine) for node in nodes(tree))

    def denominator_and_most(self, *trees, factor=Fraction(1)):
        """Return the common denominator of the terms times a factor, and their largest value times this denominator."""
        return _denominator_and_most(_times(_joined(*(self.walk(tree, "leaves") for tree in trees)), factor))

    def term(self, tree, factor):
        """Return factor·tree as an int64_t expression; the factor times each coefficient must be an integer."""
        return self.walk(tree, "term", factor)

    def term_of(self, tree, factor):
        value = yield tree, "constant"
        if value is not None:
            return _number(factor * value)
        match tree:
            case Local(_, term):
                if id(tree) not in self.often:
                    return (yield term, "term", factor)
                common, most = _denominator_and_most((yield term, "leaves"))
                if most >= MOST:  # short enough to expand, see `leaves_of`
                    return (yield term, "term", factor)
                if id(tree) not in self.variables:
                    self.variables[id(tree)] = self.declare("int64_t", tree, (yield term, "term", Fraction(common)))
                return _scaled(self.variables[id(tree)], factor / common)
            case Item():
                return (yield self.components.of(tree), "term", factor)
            case Name():
                name, one, _ = self.variable(tree)
                return _scaled(name, factor / one)
            case Binary("+", left, right):
                return f"{(yield left, 'term', factor)} + {(yield right, 'term', factor)}"
            case Binary("-", left, right):
                return f"{(yield left, 'term', factor)} - {_in_brackets((yield right, 'term', factor))}"
            case Binary() if (yield from self.is_product(tree)):
                (first, _), (second, _) = yield from self.denominators(tree)
                left, right = (yield tree.left, "term", Fraction(first)), (yield tree.right, "term", Fraction(second))
                times = factor / (first * second)
                return f"({left}) * ({right})" if times == 1 else f"{_number(times)} * ({left}) * ({right})"
            case Binary():
                scale, rest = yield from self.scaled(tree)
                return (yield rest, "term", factor * scale)
            case Extreme(pick, terms):
                if factor < 0:
                    pick = {"max": "min", "min": "max"}[pick]
                return self.nested(pick, (yield from self.results(terms, "term", factor)))
            case If(test, then, other):
                decided = yield test, "condition"
                if isinstance(decided, bool):
                    return (yield then if decided else other, "term", factor)
                return f"({decided} ? {(yield then, 'term', factor)} : {(yield other, 'term', factor)})"
        self.refuse(tree, f"`{text(tree)}` has no {self.WORLD}")

    def nested(self, pick, terms):
        *firsts, written = terms
        for first in reversed(firsts):
            written = f"ccm_{pick}({first}, {written})"
        return written

    def condition(self, tree):
        return self.walk(tree, "condition")

    def condition_of(self, tree):
        match tree:
            case Local(_, part):
                condition = yield part, "condition"
                if isinstance(condition, bool) or id(tree) not in self.often:
                    return condition
                if id(tree) not in self.variables:
                    self.variables[id(tree)] = self.declare("bool", tree, condition)
                return self.variables[id(tree)]
            case Comparison(op, left, right):
                values = (yield left, "constant"), (yield right, "constant")
                if None not in values:
                    return ORDER[op](*values)
                yield left, "leaves"  # memoised here, so that `denominator` need not recurse
                yield right, "leaves"
                common, presumed = self.denominator(left, right), self.presumed(tree)
                sides = (yield left, "term", Fraction(common)), (yield right, "term", Fraction(common))
                if sides[0] == sides[1] and not presumed:
                    return ORDER[op](0, 0)
                return f"{presumed}{sides[0]} {op} {sides[1]}"
            case Logic(op, several):
                return (yield from self.logic(op, several))
            case Not(part):
                condition = yield part, "condition"
                return not condition if isinstance(condition, bool) else f"!({condition})"
            case Name():
                return self.truth(tree)
        self.refuse(tree, f"`{text(tree)}` has no {self.WORLD}")

    def logic(self, op, several):
        undecided = []
        for part in several:
            condition = yield part, "condition"
            if not isinstance(condition, bool):
                undecided.append(condition)
            elif condition != (op == "and"):
                return condition
        if len(undecided) > 1:
            undecided = [f"({condition})" for condition in undecided]
        return _C_LOGIC[op].join(undecided) if undecided else op == "and"


def _joined(*several):
    joined = {}
    for leaves in several:
        for coefficient, most in leaves.items():
            joined[coefficient] = joined.get(coefficient, 0) + most
    return joined


def _times(leaves, factor):
    return _joined(*({abs(coefficient * factor): most} for coefficient, most in leaves.items()))


def _denominator_and_most(leaves):
    """Return the common denominator of the coefficients, and the largest value of the term times that denominator."""
    common = lcm(*(coefficient.denominator for coefficient in leaves))
    return common, sum(coefficient * common * most for coefficient, most in leaves.items())


def _scaled(name, factor):
    return {1: name, -1: f"-{name}"}.get(factor, f"{_number(factor)} * {name}")


def _in_brackets(written):
    return f"({written})" if " + " in written or " - " in written or written.startswith("-") else written


def _number(value):
    return str(int(value)) if abs(value) < 2**31 else f"INT64_C({int(value)})"
