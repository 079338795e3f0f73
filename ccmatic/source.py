"""Reads a controller: checks that its Python is in the subset and in the right units, and makes it a tree."""

import ast
import copy
import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from ccmatic.errors import InputError, shown, suggest
from ccmatic.source_limits import MAX_DEPTH, MAX_DIGITS, MAX_LENGTH, MAX_PATHS, too_deep, too_large
from ccmatic.units import CONSTANTS, NUMBER, RATE

#: The constants that are numbers in every query, so that terms may be multiplied and divided by them.
KNOWN = ("R_m", "D")


@dataclass(frozen=True)
class Number:
    """A literal."""

    value: Fraction


@dataclass(frozen=True)
class Name:
    """A parameter."""

    name: str


@dataclass(frozen=True)
class Binary:
    """left op right, with op one of + - * /; -x is 0 - x."""

    op: str
    left: object
    right: object
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Extreme:
    """The largest or the smallest of the terms: `pick` is max or min."""

    pick: str
    terms: tuple


@dataclass(frozen=True)
class If:
    """`then` where `test` holds, else `other`: an `if` statement or a conditional expression."""

    test: object
    then: object
    other: object


@dataclass(frozen=True)
class Comparison:
    """left op right, with op one of < <= > >= == !=."""

    op: str
    left: object
    right: object


@dataclass(frozen=True)
class Logic:
    """All of the parts (op is `and`) or at least one (op is `or`)."""

    op: str
    parts: tuple


@dataclass(frozen=True)
class Not:
    """The opposite of a condition."""

    part: object


_ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_ORDER = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def read(source, beliefs, file=None):
    """The parameters of a controller and its body, the rate as a tree of the classes above.

    `beliefs` maps the names that it may read, besides the constants, to their units.
    """
    if len(source) > MAX_LENGTH:
        raise InputError(f"found {len(source)} characters, expected at most {MAX_LENGTH} in a controller", file)
    try:
        return _Reader(source, {**beliefs, **CONSTANTS}, file).module(ast.parse(source))
    except SyntaxError as error:
        raise InputError(f"not Python: {error.msg}", file, error.lineno) from None
    except ValueError as error:
        raise InputError(f"not Python: {error}", file) from None
    except (RecursionError, MemoryError):
        raise InputError(f"nested too deeply, expected at most {MAX_DEPTH} levels", file) from None


def run_exactly(source, file):
    """The controller's own `rate`, as Python runs it, with every number in it an exact Fraction."""
    module = _exact(ast.parse(source), source)
    scope = _scope()
    exec(compile(module, file, "exec"), scope)
    return scope["rate"]


def start_of(statement):
    """The name in a statement `start = "NAME"`; None for any other."""
    match statement:
        case ast.Assign(targets=[ast.Name(id="start")], value=ast.Constant(value=str(name))):
            return name
    return None


def read_start(source):
    """The controller that runs until a large loss, as a `start = "NAME"` says, or None."""
    return next((name for statement in ast.parse(source).body if (name := start_of(statement))), None)


def _scope():
    return {"__builtins__": {}, "max": max, "min": min, "Fraction": Fraction}


class _Exact(ast.NodeTransformer):
    """Replaces every number by the exact Fraction that its digits say."""

    def __init__(self, source):
        self.source = source

    def visit_Constant(self, node):
        if not isinstance(node.value, int | float):
            return node
        parts = map(ast.Constant, _literal(node, self.source).as_integer_ratio())
        return ast.copy_location(ast.Call(ast.Name("Fraction", ast.Load()), list(parts), []), node)


def _exact(tree, source):
    return ast.fix_missing_locations(_Exact(source).visit(copy.deepcopy(tree)))


def _literal(node, source):
    """The number that a literal's digits say: 0.1 is 1/10, not the float nearest to it."""
    if isinstance(node.value, int):
        return Fraction(node.value)
    return Fraction(ast.get_source_segment(source, node).replace("_", ""))


class _Reader:
    """Reads one source; its methods give trees, or a tree and its unit (None for 0, which fits any unit)."""

    def __init__(self, source, units, file):
        self.source = source
        self.units = units
        self.file = file
        self.parameters = ()
        self.paths = 0
        self.digits = 0

    def fail(self, node, message):
        raise InputError(message, self.file, getattr(node, "lineno", None))

    def module(self, module):
        if node := too_deep(module):
            self.fail(node, f"nested too deeply, expected at most {MAX_DEPTH} levels")
        statements = module.body[1:] if _is_docstring(module.body) else module.body
        statements = [statement for statement in statements if start_of(statement) is None]
        functions = [s for s in statements if isinstance(s, ast.FunctionDef)]
        for statement in statements:
            if statement not in functions:
                found = _first_line(statement)
                self.fail(statement, f"found `{found}`, expected only a docstring, `start = '…'` and `def rate(...)`")
        if not functions:
            raise InputError("found no function, expected `def rate(...)`", self.file, 1)
        for function in functions:
            if function.name != "rate":
                self.fail(function, f"found function `{function.name}`, expected only `def rate(...)`")
        if len(functions) > 1:
            self.fail(functions[1], "found a second function `rate`, expected one")
        return self.function(functions[0])

    def function(self, function):
        if function.decorator_list:
            self.fail(function.decorator_list[0], "found a decorator, expected plain `def rate(...)`")
        if function.returns or getattr(function, "type_params", None):
            self.fail(function, "found types on `rate`, expected plain `def rate(...)`")
        self.parameters = self.parameter_names(function)
        body = function.body[1:] if _is_docstring(function.body) else function.body
        self.check_block(body)
        return self.parameters, self.block(body, function)

    def parameter_names(self, function):
        arguments = function.args
        plain = ast.arguments(posonlyargs=[], args=arguments.args, kwonlyargs=[], kw_defaults=[], defaults=[])
        if ast.dump(plain) != ast.dump(arguments) or any(a.annotation for a in arguments.args):
            found = ast.unparse(arguments)
            self.fail(function, f"found parameters `{found}`, expected only names, without defaults or types")
        names = []
        for argument in arguments.args:
            if argument.arg not in self.units:
                text = f"unknown parameter `{argument.arg}`, expected a belief or constant"
                self.fail(argument, f"{text}; {suggest(argument.arg, self.units)}")
            if argument.arg in names:
                self.fail(argument, f"found parameter `{argument.arg}` twice, expected once")
            names.append(argument.arg)
        return tuple(names)

    def check_block(self, statements):
        """Every statement is a `return` or an `if`, and none stands where no path leads."""
        for statement in statements:
            if isinstance(statement, ast.If):
                self.check_block(statement.body)
                self.check_block(statement.orelse)
            elif not isinstance(statement, ast.Return):
                self.fail(statement, f"found `{_first_line(statement)}`, expected `if` or `return`")
        for before, after in pairwise(statements):
            if _always_returns(before):
                self.fail(after, f"`{_first_line(after)}` is never reached, expected nothing after a return")

    def block(self, statements, before):
        """The rate that the statements return; `before` is the statement that leads here."""
        if not statements:
            kind = "`if`" if isinstance(before, ast.If) else "`def rate`"
            self.fail(before, f"missing return: a path through this {kind} ends without one")
        statement, *rest = statements
        if isinstance(statement, ast.Return):
            return self.returned(statement)
        self.begin_term(statement.test)
        test = self.condition(statement.test)
        then = self.block(statement.body + rest, statement)
        return If(test, then, self.block(statement.orelse + rest, statement))

    def begin_term(self, node):
        self.digits = 0
        if reason := too_large(node):
            self.fail(node, reason)

    def returned(self, statement):
        self.paths += 1
        if self.paths > MAX_PATHS:
            self.fail(statement, f"found more than {MAX_PATHS} paths to a return, expected fewer")
        if statement.value is None:
            self.fail(statement, "found `return` alone, expected a rate after it")
        self.begin_term(statement.value)
        tree, unit = self.expression(statement.value)
        if unit not in (None, RATE):
            found = ast.unparse(statement.value)
            self.fail(statement, f"returns `{found}` ({unit}), expected a rate")
        return tree

    def expression(self, node):
        match node:
            case ast.Constant():
                return self.number(node)
            case ast.Name():
                return self.name(node)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                tree, unit = self.expression(operand)
                return Binary("-", Number(Fraction(0)), tree, node.lineno), unit
            case ast.BinOp() if type(node.op) in _ARITHMETIC:
                return self.arithmetic(node)
            case ast.Call(func=ast.Name(id="max" | "min")):
                return self.extreme(node)
            case ast.IfExp(test=test, body=then, orelse=other):
                condition = self.condition(test)
                trees, unit = self.same_unit(node, "chooses between", "and", then, other)
                return If(condition, *trees), unit
        self.fail(node, self.refusal(node))

    def refusal(self, node):
        """Why `node` is no term."""
        found = ast.unparse(node)
        match node:
            case ast.Compare() | ast.BoolOp() | ast.UnaryOp(op=ast.Not()):
                return f"found condition `{found}`, expected a term such as 2 * C_L"
            case ast.BinOp() | ast.UnaryOp():
                return f"found `{found}`, expected only the operators + - * /"
            case ast.Call():
                return f"found call `{found}`, expected only max(...) or min(...)"
        return f"found `{found}`, expected a term such as 2 * C_L"

    def number(self, node):
        text = ast.get_source_segment(self.source, node)
        if type(node.value) not in (int, float):
            self.fail(node, f"found `{text}`, expected a real number or a parameter")
        if isinstance(node.value, float):
            digits = text.lower().split("e")[0].strip("0._")
            if math.isinf(node.value) or (node.value == 0 and digits):
                self.fail(node, f"found `{shown(text)}`, expected a number that a float could hold")
        value = _literal(node, self.source)
        self.digits += (value.numerator.bit_length() + value.denominator.bit_length()) // 3
        if self.digits > MAX_DIGITS:
            self.fail(node, f"found a term whose numbers have more than {MAX_DIGITS} digits, expected fewer")
        return Number(value), NUMBER if value else None

    def name(self, node):
        if node.id not in self.units:
            self.fail(node, f"unknown name `{node.id}`, expected a parameter; {suggest(node.id, self.units)}")
        if node.id not in self.parameters:
            wanted = ", ".join((*self.parameters, node.id))
            self.fail(node, f"`{node.id}` is not a parameter, expected it to be: `def rate({wanted})`")
        return Name(node.id), self.units[node.id]

    def arithmetic(self, node):
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
                self.check_product(node)
                unit = left_unit * right_unit
            else:
                self.check_division(node)
                unit = left_unit / right_unit
        return Binary(op, left, right, node.lineno), unit

    def check_product(self, node):
        if not _is_known(node.left) and not _is_known(node.right):
            left, right = ast.unparse(node.left), ast.unparse(node.right)
            self.fail(node, f"multiplies `{left}` by `{right}`, expected one of them {_OF_KNOWN}")

    def check_division(self, node):
        left, right = ast.unparse(node.left), ast.unparse(node.right)
        if not _is_known(node.right):
            self.fail(node, f"divides `{left}` by `{right}`, expected a divisor {_OF_KNOWN}")
        if not _names(node.right):
            divisor = ast.Expression(_exact(node.right, self.source))
            if eval(compile(divisor, "divisor", "eval"), _scope()) == 0:
                self.fail(node, f"divides `{left}` by `{right}`, which is 0; expected another divisor")

    def extreme(self, node):
        if len(node.args) < 2 or node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            found = ast.unparse(node)
            self.fail(node, f"found `{found}`, expected {node.func.id} of at least two plain terms")
        trees, unit = self.same_unit(node, f"takes the {node.func.id} of", "and", *node.args)
        return Extreme(node.func.id, trees), unit

    def same_unit(self, node, verb, preposition, *operands):
        """The trees of the operands and the unit that they share."""
        trees, common, first = [], None, None
        for operand in operands:
            tree, unit = self.expression(operand)
            trees.append(tree)
            if common is None:
                common, first = unit, operand
            elif unit not in (None, common):
                a, b = ast.unparse(first), ast.unparse(operand)
                text = f"{verb} `{a}` ({common}) {preposition} `{b}` ({unit})"
                self.fail(node, f"{text}, expected terms of one unit")
        return tuple(trees), common

    def condition(self, node):
        match node:
            case ast.BoolOp(op=op, values=values):
                return Logic("and" if isinstance(op, ast.And) else "or", tuple(map(self.condition, values)))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return Not(self.condition(operand))
            case ast.Compare():
                return self.comparison(node)
        self.fail(node, f"found `{ast.unparse(node)}`, expected a comparison such as qdel_L > 0")

    def comparison(self, node):
        """A comparison; a chain a < b < c is a < b and b < c."""
        links = []
        for op, (left, right) in zip(node.ops, pairwise([node.left, *node.comparators]), strict=True):
            if type(op) not in _ORDER:
                self.fail(node, f"found `{ast.unparse(node)}`, expected one of < <= > >= == !=")
            trees, _ = self.same_unit(node, "compares", "with", left, right)
            links.append(Comparison(_ORDER[type(op)], *trees))
        return links[0] if len(links) == 1 else Logic("and", tuple(links))


_OF_KNOWN = f"made of numbers, {' and '.join(KNOWN)} only"


def _names(node):
    """The names in an expression, without the two functions'."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - {"max", "min"}


def _is_known(node):
    return _names(node) <= set(KNOWN)


def _is_docstring(statements):
    match statements:
        case [ast.Expr(value=ast.Constant(value=str())), *_]:
            return True
    return False


def _always_returns(statement):
    if isinstance(statement, ast.Return):
        return True
    blocks = (statement.body, statement.orelse)
    return all(block and _always_returns(block[-1]) for block in blocks)


def _first_line(statement):
    return ast.unparse(statement).splitlines()[0]
