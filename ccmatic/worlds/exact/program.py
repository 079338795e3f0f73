"""A controller's own `update` and `send`, which Python runs on exact numbers to check a trace."""

import ast
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from ccmatic.base import syntax_tree
from ccmatic.language import add_beliefs, is_constant
from ccmatic.worlds.exact.open_numbers import Options, UncertainNumber, ends, extreme
from ccmatic.worlds.exact.rates import BUILT_IN, no_tanh, with_fractions


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
