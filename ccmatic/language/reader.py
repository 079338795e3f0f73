"""The reader of controllers. It checks that the Python is in the subset and that units match, and builds a tree.

If a controller assigns a name, the tree contains a `Local` at each place that reads the name. All these places share
one node. Python computes an assigned value even if no code reads the value. So an assignment may not divide by a term
that can be 0. Lists, comprehensions and sums are expanded while they are read: a list becomes a `Row` of terms.
"""

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

from ccmatic.base import CONDITION, CONSTANTS, NUMBER, RATE, InputError, Unit, shown, suggest, syntax_tree
from ccmatic.language.limits import MAX_DEPTH, MAX_LENGTH, too_deep
from ccmatic.language.scope import LIST, Meaning, Row, RowReader, Term, as_condition, as_term
from ccmatic.language.source import (
    WITH_STATE,
    after_docstring,
    always_returns,
    assignment,
    first_line,
    is_assignment,
    is_constant,
    start_of,
    targets,
)
from ccmatic.language.tree import (
    Between,
    Binary,
    Comparison,
    Extreme,
    Function,
    If,
    Local,
    Logic,
    Not,
    Number,
    Tree,
    parts,
)

#: The constants whose values every query fixes. Controllers may therefore multiply and divide terms by these constants.
KNOWN = ("R_m", "D")

T = TypeVar("T")

_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_ORDER: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


def read_controller(
    source: str, beliefs: Mapping[str, Unit | str], reserved: Collection[str], file: str | None = None
) -> tuple[tuple[str, ...], Tree]:
    """Read a controller that is a function of beliefs: return its parameters, and the rate as a tree.

    docs/controllers.md describes the language. `beliefs` gives the units of the beliefs that the controller may read in
    addition to constants. The controller may assign to none of these names, and to none in `reserved`.
    """
    reader = Reader(source, {**beliefs, **CONSTANTS}, reserved, file)
    return parsed(source, file, reader.module)


def parsed(source: str, file: str | None, read_module: Callable[[ast.Module], T]) -> T:
    """Return the result of `read_module` on the `ast.Module` of a source; every InputError names the file."""
    if len(source) > MAX_LENGTH:
        raise InputError(f"found {len(source)} characters, expected at most {MAX_LENGTH} in a controller", file)
    try:
        return read_module(syntax_tree(source))
    except SyntaxError as error:
        raise InputError(f"not Python: {error.msg}", file, error.lineno) from None
    except ValueError as error:
        raise InputError(f"not Python: {error}", file) from None
    except (RecursionError, MemoryError):
        raise InputError(f"nested too deeply, expected at most {MAX_DEPTH} levels", file) from None


def read_start(source: str) -> str | None:
    """Return NAME from the statement `start = "NAME"`, or None. This controller runs until the first large loss."""
    return next((name for statement in syntax_tree(source).body if (name := start_of(statement))), None)


class Reader(RowReader):
    """A reader of one source.

    The methods return trees, or pairs of a tree and its unit. The unit of 0 is None, because 0 fits every unit.
    """

    #: Whether terms may contain `tanh(x, scale)`, as in controllers.
    takes_tanh = True

    def module(self, module: ast.Module) -> tuple[tuple[str, ...], Tree]:
        statements = self.whole_module(module)
        functions = [s for s in statements if isinstance(s, ast.FunctionDef)]
        for statement in statements:
            if is_constant(statement):
                self.check_target(statement, (*self.names, "rate"))
                self.assign(statement)
            elif isinstance(statement, ast.AnnAssign):
                self.fail(
                    statement, f"found `{first_line(statement)}`, expected {WITH_STATE}, or `def rate(...)` alone"
                )
            elif statement not in functions and start_of(statement) is None:
                expected = "only a docstring, `start = '…'`, constants such as `GAIN = 5 / 4`, and `def rate(...)`"
                self.fail(statement, f"found `{first_line(statement)}`, expected {expected}")
        if not functions:
            raise InputError("found no function, expected `def rate(...)`", self.file, 1)
        for function in functions:
            if function.name != "rate":
                expected = f"only `def rate(...)`, or {WITH_STATE}"
                self.fail(function, f"found function `{function.name}`, expected {expected}")
        if len(functions) > 1:
            self.fail(functions[1], "found a second function `rate`, expected one")
        return self.function(functions[0])

    def whole_module(self, module: ast.Module) -> list[ast.stmt]:
        """Return the statements except a docstring. Raise InputError if they are nested too deeply."""
        if node := too_deep(module):
            self.fail(node, f"nested too deeply, expected at most {MAX_DEPTH} levels")
        return after_docstring(module.body)

    def function(self, function: ast.FunctionDef) -> tuple[tuple[str, ...], Tree]:
        parameters, body = self.begin(function)
        return parameters, self.block(body, function)

    def begin(self, function: ast.FunctionDef) -> tuple[tuple[str, ...], list[ast.stmt]]:
        self.called = function.name
        plain = f"expected plain `def {function.name}(...)`"
        if function.decorator_list:
            self.fail(function.decorator_list[0], f"found a decorator, {plain}")
        if function.returns or getattr(function, "type_params", None):
            self.fail(function, f"found types on `{function.name}`, {plain}")
        parameters = self.parameters = self.parameter_names(function)
        body = after_docstring(function.body)
        self.check_block(body)
        self.assigned = {node.id for node in targets(function)}
        return parameters, body

    def parameter_names(self, function: ast.FunctionDef) -> tuple[str, ...]:
        arguments = function.args
        others = arguments.posonlyargs, arguments.vararg, arguments.kwonlyargs, arguments.kwarg, arguments.defaults
        if any(others) or any(a.annotation for a in arguments.args):
            text = ast.unparse(arguments)
            self.fail(function, f"found parameters `{text}`, expected only names, without defaults or types")
        names: list[str] = []
        for argument in arguments.args:
            if argument.arg not in self.units:
                self.fail(argument, self.unknown(argument.arg))
            if argument.arg in names:
                self.fail(argument, f"found parameter `{argument.arg}` twice, expected once")
            names.append(argument.arg)
        return tuple(names)

    def unknown(self, name: str) -> str:
        """List the readable names; if none resembles the parameter, add that a sender's own numbers are state."""
        suggestion = suggest(name, self.units)
        text = f"unknown parameter `{name}`, expected a belief or constant; {suggestion}"
        if suggestion.startswith("known"):
            text += f"; what a sender counts or remembers, such as a window, is for a controller with {WITH_STATE}"
        return text

    def check_block(self, statements: Sequence[ast.stmt]) -> None:
        """Raise InputError unless each statement is a `return`, an `if` or an assignment, and is reachable."""
        for statement in statements:
            if isinstance(statement, ast.If):
                self.check_block(statement.body)
                self.check_block(statement.orelse)
            elif is_assignment(statement):
                self.check_target(statement, self.names)
            else:
                self.check_other(statement)
        for before, after in pairwise(statements):
            if always_returns(before):
                self.fail(after, f"`{first_line(after)}` is never reached, expected nothing after a return")

    def check_other(self, statement: ast.stmt) -> None:
        if not isinstance(statement, ast.Return):
            text = first_line(statement)
            self.fail(statement, f"found `{text}`, expected `if`, `return` or an assignment to one name")

    def check_target(self, statement: ast.stmt, taken: Collection[str]) -> None:
        """Each name must mean one thing."""
        name, _ = assignment(statement)
        if self.is_reserved(name) or name in taken or name.startswith("__"):
            self.fail(statement, f"assigns `{name}`, which has a meaning already; expected another name")

    def block(self, statements: list[ast.stmt], before: ast.stmt) -> Tree:
        """Return the tree of the rate that the statements return. `before` is the statement that precedes them."""
        for index, statement in enumerate(statements):
            if isinstance(statement, ast.Return):
                return self.returned(statement)
            if isinstance(statement, ast.If):
                return self.branches(statement, statements[index + 1 :])
            self.assign(statement)
        kind = "`if`" if isinstance(before, ast.If) else "`def rate`"
        self.fail(before, f"missing return: a path through this {kind} ends without one")

    def branches(self, statement: ast.If, rest: list[ast.stmt]) -> Tree:
        """The branches may assign to different names."""
        test = self.whole(statement.test, self.condition(statement.test))
        self.enter_branch(statement)
        names = self.names
        trees = []
        for branch in (statement.body, statement.orelse):
            self.names = dict(names)
            trees.append(self.block(branch + rest, statement))
        self.branch -= 1
        then, other = trees
        return If(test, then, other)

    def enter_branch(self, statement: ast.stmt) -> None:
        self.branch += 1
        if self.branch > MAX_DEPTH:
            self.fail(statement, f"found a path of more than {MAX_DEPTH} `if`, expected fewer")

    def assign(self, statement: ast.stmt) -> None:
        name, node = assignment(statement)
        self.in_assignment = True
        meaning = self.value(node)
        self.in_assignment = False
        self.names[name] = self.named(name, node, meaning)

    def named(self, name: str, node: ast.expr, meaning: Meaning) -> Meaning:
        """Each item of a list gets a separate name."""
        what, unit = meaning
        if not isinstance(what, Row):
            return self.local(name, node, what), unit
        self.count(node, len(what))
        return Row(self.named(f"{name}_{index}", node, item) for index, item in enumerate(what)), LIST

    def local(self, name: str, node: ast.expr | ast.stmt, tree: Tree) -> Tree:
        """All readings of a name share this node."""
        tree = self.whole(node, tree)
        return tree if isinstance(tree, Local) or not parts(tree) else Local(name, tree, node.lineno)

    def value(self, node: ast.expr) -> Meaning:
        match node:
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return self.condition(node), CONDITION
            case ast.Name():
                return self.name(node)
            case ast.Subscript() if self.is_row(node.value):
                return self.item(node)
            case ast.Call(func=ast.Name(id="all" | "any")):
                return self.condition(node), CONDITION
            case _ if self.is_row(node):
                return self.row(node), LIST
        return self.expression(node)

    def returned(self, statement: ast.Return) -> Tree:
        self.count(statement)
        if statement.value is None:
            self.fail(statement, "found `return` alone, expected a rate after it")
        match statement.value:
            case ast.Call(func=ast.Name(id="between"), args=[low, high], keywords=[]):
                return Between(self.rate(low), self.rate(high), statement.lineno)
        return self.rate(statement.value)

    def rate(self, node: ast.expr) -> Tree:
        """Read a returned rate, or one end of an interval of rates."""
        tree, unit = self.expression(node)
        if unit not in (None, RATE):
            self.fail(node, f"returns `{ast.unparse(node)}` ({unit}), expected a rate")
        return self.whole(node, tree)

    def expression(self, node: ast.expr) -> Term:
        match node:
            case ast.Constant():
                return self.number(node)
            case ast.Name():
                if term := as_term(self.name(node)):
                    return term
            case ast.Subscript() if self.is_row(node.value):
                if term := as_term(self.item(node)):
                    return term
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                tree, unit = self.expression(operand)
                return Binary("-", Number(Fraction(0)), tree, node.lineno), unit
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                return self.arithmetic(node)
            case ast.Call(func=ast.Name(id="max" | "min" as pick)):
                return self.extreme(node, pick)
            case ast.Call(func=ast.Name(id="tanh")) if self.takes_tanh:
                return self.tanh(node)
            case ast.Call(func=ast.Name(id="sum")):
                return self.sum(node)
            case ast.Call(func=ast.Name(id="len")):
                return self.length(node)
            case ast.IfExp(test=test, body=then, orelse=other):
                condition = self.condition(test)
                (first, second), unit = self.same_unit(node, "chooses between", "and", then, other)
                return If(condition, first, second), unit
        self.fail(node, self.refusal(node))

    def refusal(self, node: ast.expr) -> str:
        text = ast.unparse(node)
        match node:
            case _ if self.is_row(node):
                return f"found list `{text}`, expected a term such as 2 * C_L"
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()) | ast.Name():
                return f"found condition `{text}`, expected a term such as 2 * C_L"
            case ast.BinOp() | ast.UnaryOp():
                return f"found `{text}`, expected only the operators + - * /"
            case ast.Call(func=ast.Name(id="between")):
                return f"found `{text}`, expected `return between(low, high)`, with two rates"
            case ast.Call():
                return f"found call `{text}`, expected only max(...) or min(...)"
        return f"found `{text}`, expected a term such as 2 * C_L"

    def number(self, node: ast.Constant) -> Term:
        if type(node.value) not in (int, float):
            text = self.literals.text(node)
            self.fail(node, f"found `{shown(text)}`, expected a real number or a parameter")
        try:
            number = self.literals.value(node)
        except InputError as error:
            self.fail(node, error.message)
        self.count(node)
        return Number(number), NUMBER if number else None

    def arithmetic(self, node: ast.BinOp) -> Term:
        op = _ARITHMETIC[type(node.op)]
        if op == "+":
            (right, left), unit = self.same_unit(node, "adds", "to", node.right, node.left)
        elif op == "-":
            (right, left), unit = self.same_unit(node, "subtracts", "from", node.right, node.left)
        else:
            left, left_unit = self.expression(node.left)
            right, right_unit = self.expression(node.right)
            left_unit, right_unit = left_unit or NUMBER, right_unit or NUMBER
            if op == "*":
                self.check_product(node, left, right)
                unit = left_unit * right_unit
            else:
                self.check_division(node, right)
                unit = left_unit / right_unit
        return Binary(op, left, right, node.lineno), unit

    def is_known(self, tree: Tree) -> bool:
        """Return whether a term is a known number in every query. Other terms may be divided by a known number."""
        return self.read_names(tree) <= set(KNOWN)

    def is_factor(self, tree: Tree) -> bool:
        return self.is_known(tree)

    def check_product(self, node: ast.BinOp, left: Tree, right: Tree) -> None:
        if not self.is_factor(left) and not self.is_factor(right):
            product = f"multiplies `{ast.unparse(node.left)}` by `{ast.unparse(node.right)}`"
            self.fail(node, f"{product}, expected one of them {_OF_KNOWN}")

    def check_division(self, node: ast.BinOp, divisor: Tree) -> None:
        """Raise InputError if the divisor is unknown, or if it can be 0 in code that Python always runs."""
        if not self.is_known(divisor):
            self.fail(node, f"{_divides(node)}, expected a divisor {_OF_KNOWN}")
        if not self.read_names(divisor):
            if self.value_of(divisor) == 0:
                self.fail(node, f"{_divides(node)}, which is 0; expected another divisor")
        elif self.in_assignment and self.sign(divisor) < 1:
            problem = f"an assignment, or a list, {_divides(node)}, which may be 0"
            expected = "a sum or product of what is above 0, or the division where it is used"
            self.fail(node, f"{problem}; expected {expected}")

    def extreme(self, node: ast.Call, pick: str) -> Term:
        several = self.several(node)
        starred = any(isinstance(each, ast.Starred) for each in node.args)
        if len(several or node.args) < 2 - bool(several) or node.keywords or starred:
            text = ast.unparse(node)
            self.fail(node, f"found `{text}`, expected {pick} of at least two plain terms, or of a list")
        operands = self.terms_among(node, several or [(each, *self.expression(each)) for each in node.args])
        trees, unit = self.alike(node, f"takes the {pick} of", "and", operands)
        return trees[0] if len(trees) == 1 else Extreme(pick, trees), unit

    def tanh(self, node: ast.Call) -> Term:
        """Read `tanh(x, scale)`, which means scale · tanh(x / scale) in the common unit of x and scale.

        Defined in this way, the function commutes with a change of unit.
        """
        match node:
            case ast.Call(args=[inner, by], keywords=[]):
                (x, scale), unit = self.same_unit(node, "takes the tanh of", "in", inner, by)
            case _:
                self.fail(node, f"found `{ast.unparse(node)}`, expected `tanh(x, scale)`: scale·tanh(x / scale)")
        if not self.read_names(scale) <= CONSTANTS.keys() or self.sign(scale) < 1:
            expected = "a number above 0 times MSS or R_m, such as MSS / R_m"
            self.fail(by, f"takes a tanh in the scale `{ast.unparse(by)}`, expected {expected}")
        curve = Function("tanh", (Binary("/", x, scale, node.lineno),), node.lineno)
        return Binary("*", scale, curve, node.lineno), unit

    def same_unit(
        self, node: ast.AST, verb: str, preposition: str, *operands: ast.expr
    ) -> tuple[tuple[Tree, ...], Unit | None]:
        return self.alike(node, verb, preposition, [(each, *self.expression(each)) for each in operands])

    def condition(self, node: ast.expr) -> Tree:
        match node:
            case ast.Name():
                if tree := as_condition(self.name(node)):
                    return tree
            case ast.Subscript() if self.is_row(node.value):
                if tree := as_condition(self.item(node)):
                    return tree
            case ast.Call(func=ast.Name(id="all" | "any" as called)) if (several := self.several(node)) is not None:
                return self.quantified(node, called, several)
            case ast.BoolOp(op=op, values=values):
                return Logic("and" if isinstance(op, ast.And) else "or", tuple(map(self.condition, values)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.condition(operand))
            case ast.Compare():
                return self.comparison(node)
        self.fail(node, f"found `{ast.unparse(node)}`, expected a comparison such as qdel_L > 0")

    def comparison(self, node: ast.Compare) -> Tree:
        """Read a comparison. A chain a < b < c means that a < b and b < c."""
        links = []
        for op, (left, right) in zip(node.ops, pairwise([node.left, *node.comparators]), strict=True):
            if type(op) not in _ORDER:
                self.fail(node, f"found `{ast.unparse(node)}`, expected one of < <= > >= == !=")
            (low, high), _ = self.same_unit(node, "compares", "with", left, right)
            links.append(Comparison(_ORDER[type(op)], low, high))
        return links[0] if len(links) == 1 else Logic("and", tuple(links))


_OF_KNOWN = f"made of numbers, {' and '.join(KNOWN)} only"


def _divides(node: ast.BinOp) -> str:
    return f"divides `{ast.unparse(node.left)}` by `{ast.unparse(node.right)}`"
