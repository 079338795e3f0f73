"""A controller's own Python, run on exact numbers, to compute rates and to check executions.

Of uncertain numbers, such as an unknown delay, only bounds are known. `Lines` records the lines that ran.
"""

import ast
import operator
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from ccmatic.base import InputError, syntax_tree
from ccmatic.language import Literals, add_beliefs, is_constant

#: The names of the functions that record lines in executed syntax. The names contain spaces, so no source can use them.
_RAN, _DECIDED = "a line ran", "a condition was decided"


class Lines(dict):
    """The lines that ran, by number: an `if` or `elif` with its condition's value, others with True."""

    def mark(self, function, scope):
        """Change a function so that it records here which of its lines run; `scope` gets two names for this."""
        scope[_RAN] = self._ran
        scope[_DECIDED] = self._decided
        function.body = _marked(function.body)

    def _ran(self, first, last):
        self.update(dict.fromkeys(range(int(first), int(last) + 1), True))

    def _decided(self, first, last, condition):
        truth = bool(condition)
        self.update(dict.fromkeys(range(int(first), int(last) + 1), truth))
        return truth


def _marked(statements):
    """Precede each statement by a call that records its lines; a condition itself records its outcome."""
    marked = []
    for statement in statements:
        if isinstance(statement, ast.If):
            statement.test = _call(_DECIDED, statement.test, statement.test)
            statement.body, statement.orelse = _marked(statement.body), _marked(statement.orelse)
        elif not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)):  # no docstring
            marked.append(ast.copy_location(ast.Expr(_call(_RAN, statement)), statement))
        marked.append(statement)
    return marked


def _call(name, place, *arguments):
    """The last arguments are the first and the last line of a place in the source."""
    lines = [ast.Constant(place.lineno), ast.Constant(place.end_lineno)]
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [*lines, *arguments], []), place)


class UncertainNumber:
    """An observation, or a value computed from one, that may be any number between two ends.

    Args:
        number: The value that comparisons use. If it is None, no comparison holds.
        low: The lower end; None for no lower end.
        high: The upper end; None for no upper end.
        before: For an observation, a function that returns the observation of the same name at an earlier step.
    """

    __hash__ = None

    def __init__(self, number, low, high, before=None):
        self.number, self.low, self.high, self.before = number, low, high, before

    def __getitem__(self, back):
        return self.before(back)

    def __neg__(self):
        return UncertainNumber(_negated(self.number), _negated(self.high), _negated(self.low))

    def __add__(self, other):
        return UncertainNumber(*map(_sum, ends(self), ends(other)))

    __radd__ = __add__

    def __sub__(self, other):
        return self + -other

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, factor):
        """The product of two UncertainNumbers gets no ends, because only comparisons use such a product."""
        if isinstance(factor, UncertainNumber):
            return UncertainNumber(_product(self.number, factor.number), None, None)
        number, low, high = (_product(each, factor) for each in ends(self))
        return UncertainNumber(number, low, high) if factor >= 0 else UncertainNumber(number, high, low)

    __rmul__ = __mul__

    def __truediv__(self, divisor):
        return self * (1 / Fraction(divisor))

    def _compared(compare):
        def holds(self, other):
            number, _, _ = ends(other)
            return self.number is not None and number is not None and compare(self.number, number)

        return holds

    __lt__, __le__ = _compared(operator.lt), _compared(operator.le)
    __gt__, __ge__ = _compared(operator.gt), _compared(operator.ge)
    __eq__, __ne__ = _compared(operator.eq), _compared(operator.ne)


class UnknownNumber(UncertainNumber):
    """An unknown delay, or an observation that the sender has not yet made. `before` is as in `UncertainNumber`."""

    def __init__(self, before):
        super().__init__(None, Fraction(0), None, before)


def ends(number):
    """Return the value that comparisons use, the lower end and the upper end of a number."""
    return (number.number, number.low, number.high) if isinstance(number, UncertainNumber) else (number,) * 3


def extreme(pick, values):
    """Return the largest or smallest number.

    If all numbers are observations and one of them is unknown, the result is also unknown. The formulas for solvers
    treat unknown observations in the same way.
    """
    if not any(isinstance(value, UncertainNumber) for value in values):
        return pick(values)
    numbers, lows, highs = zip(*map(ends, values), strict=True)
    number = None if None in numbers else pick(numbers)
    observed = all(getattr(value, "before", None) for value in values)
    if observed and number is None:
        return UnknownNumber(values[0].before)
    near, far = (lows, highs) if pick is max else (highs, lows)
    near = pick((end for end in near if end is not None), default=None)
    far = None if None in far else pick(far)
    return UncertainNumber(
        number, *((near, far) if pick is max else (far, near)), values[0].before if observed else None
    )


class Options:
    """The allowed values of a state variable: one or several ranges, each a pair of ends, or of truth values."""

    def __init__(self, ranges):
        self.ranges = ranges

    def __contains__(self, number):
        return any((low is None or low <= number) and (high is None or number <= high) for low, high in self.ranges)

    def __iter__(self):
        """Yield one end of each range; 0 for a range without ends."""
        return (next((end for end in ends if end is not None), Fraction(0)) for ends in self.ranges)


def _if_known(operation):
    return lambda *numbers: None if None in numbers else operation(*numbers)


_negated, _sum, _product = map(_if_known, (operator.neg, operator.add, operator.mul))


class Rates(NamedTuple):
    """The smallest and the largest rate that a controller allows, as Fractions in the units of its arguments."""

    low: Fraction
    high: Fraction


class Row(list):
    """A list with Fractions as indices, because all numbers in executed code are Fractions."""

    def __getitem__(self, index):
        return super().__getitem__(int(index))


def affine(weights, vector, bias):
    return Row(
        sum((weight * x for weight, x in zip(row, vector, strict=True)), start)
        for row, start in zip(weights, bias, strict=True)
    )


def no_tanh(file):
    """Return a `tanh` that raises InputError, because tanh(x) is a fraction only for x = 0."""

    def tanh(x, scale):
        expected = "a network of ReLU, or `export` and `emulate`, which run it in floats"
        raise InputError(f"tanh has no exact value, which the check of executions requires; expected {expected}", file)

    return tanh


#: The only functions on lists that a controller's Python may call. All numbers in these lists are Fractions.
BUILT_IN = {
    "__builtins__": {},
    "affine": affine,
    "all": all,
    "any": any,
    "len": lambda several: Fraction(len(several)),
    "range": lambda *ends: Row(map(Fraction, range(*map(int, ends)))),
    "sum": lambda several: sum(several, Fraction(0)),
    "zip": lambda *several: Row(map(Row, zip(*several, strict=True))),
}

#: The name of Row in executed syntax. The name contains a space, so no source can use it.
_ROW = "a row"


def run_exactly(source, file, lines=None):
    """Return the controller's own `rate` as a Python function in which every number is an exact Fraction.

    The returned function takes Fractions by name, and returns a Fraction, or Rates for `between(low, high)`.
    """
    scope = {**BUILT_IN, "max": max, "min": min, "between": Rates, "tanh": no_tanh(file)}
    module = syntax_tree(source)
    for function in module.body if lines is not None else ():
        if isinstance(function, ast.FunctionDef):
            lines.mark(function, scope)
    exec(compile(with_fractions(module, source, scope), file, "exec"), scope)
    return scope["rate"]


def with_fractions(module, source, scope):
    """Return the syntax of a source in which names replace the numbers; `scope` gets their Fractions."""
    return ast.fix_missing_locations(_Exact(Literals(source), scope).visit(module))


class _Exact(ast.NodeTransformer):
    """Replaces each list by a Row, and each number by a name of its exact Fraction in `scope`.

    The names contain a space, so no source can use them.
    """

    def __init__(self, literals, scope):
        self.literals = literals
        self.scope = scope

    def visit_List(self, node):
        self.scope[_ROW] = Row
        made = ast.Call(ast.Name(_ROW, ast.Load()), [self.generic_visit(node)], [])
        return ast.copy_location(made, node)

    visit_ListComp = visit_List

    def visit_Constant(self, node):
        if not isinstance(node.value, int | float) or isinstance(node.value, bool):
            return node
        number = self.literals.value(node)
        name = f"number {number}"
        self.scope[name] = number
        return ast.copy_location(ast.Name(name, ast.Load()), node)


class ObservedNumber(Fraction):
    """An observation at a step; `[back]` gives that of `back` before."""

    def __new__(cls, number, before):
        made = super().__new__(cls, number)
        made.before = before
        return made

    def __getitem__(self, back):
        return self.before(back)


class ObservedTruth:
    """An observed condition at a step, as ObservedNumber."""

    def __init__(self, truth, before):
        self.truth, self.before = truth, before

    def __bool__(self):
        return self.truth

    def __getitem__(self, back):
        return self.before(back)


class OneOf(tuple):
    """Several values from which the network chooses. The controller does not read the result in the same step."""


class Within(NamedTuple):
    """A range from which the network chooses, or which bounds a law that does not run."""

    low: Fraction | UncertainNumber
    high: Fraction | UncertainNumber


class _Impossible(Exception):
    """Raised when an `assume` fails."""


class Program:
    """A compiled source with the beliefs that it reads. `update` returns the `state`."""

    def __init__(self, source, file, state, beliefs=MappingProxyType({}), lines=None):
        self._scope = {**BUILT_IN, "max": _extreme(max), "min": _extreme(min)}
        self._scope |= {"max_over": _extreme_over(max), "min_over": _extreme_over(min)}
        self._scope |= {"any_of": lambda *options: OneOf(options), "between": Within, "bounded": Within}
        self._scope |= {"assume": _assume, "tanh": no_tanh(file)}
        module = syntax_tree(source)
        for function in module.body if lines is not None else ():
            if isinstance(function, ast.FunctionDef):
                lines.mark(function, self._scope)
        add_beliefs(module, beliefs)
        module = with_fractions(module, source, self._scope)
        module.body = [each for each in module.body if is_constant(each) or isinstance(each, ast.FunctionDef)]
        for function in module.body:
            if isinstance(function, ast.FunctionDef) and function.name == "update":
                _return_state(function, state)
                _leave_laws_out(function)
        exec(compile(ast.fix_missing_locations(module), file, "exec"), self._scope)

    def outcome(self, arguments):
        """Return the Options that `update` leaves for each piece of state; None if an assumption fails."""
        function = self._scope["update"]
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        try:
            made = function(**{name: arguments[name] for name in names})
        except _Impossible:
            return None
        return {name: _options(each, arguments.get(name)) for name, each in made.items()}

    def sends(self, arguments):
        """Return the results of `send` in order: a window, a rate, or both."""
        function = self._scope["send"]
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        sent = function(**{name: arguments[name] for name in names})
        return sent if isinstance(sent, tuple) else (sent,)


def _return_state(function, state):
    """Change `update` so that it takes all state as parameters, and returns the final values of the state."""
    given = {argument.arg for argument in function.args.args}
    function.args.args += [ast.arg(name) for name in state if name not in given]
    values = [ast.Name(name, ast.Load()) for name in state]
    function.body.append(ast.Return(ast.Dict([ast.Constant(name) for name in state], values)))


def _leave_laws_out(function):
    """Keep only the bounds of each `bounded(law, low, high)`, because a law may have no exact value."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bounded":
            del node.args[0]


def _options(made, before):
    """If the new value depends on an unknown delay, any delay is allowed, and the state may also stay unchanged."""
    several = made if isinstance(made, OneOf) else (made,)
    ranges = []
    for each in several:
        if isinstance(each, ObservedTruth):
            each = bool(each)
        low, high = each if isinstance(each, Within) else (each, each)
        (low_number, least, _), (high_number, _, most) = ends(low), ends(high)
        if None in (low_number, high_number):
            ranges.append((before, before))
        ranges.append((least, most))
    return Options(ranges)


def _assume(condition):
    if not condition:
        raise _Impossible


def _extreme(pick):
    return lambda first, *others: extreme(pick, (first, *others) if others else tuple(first))


def _extreme_over(pick):
    return lambda seen, steps: extreme(pick, [seen[back] for back in range(int(steps))])
