"""A controller's own `update` and `send`, as Python runs them on exact numbers: what a trace is checked by."""

import ast
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from ccmatic.compilers.exact.rates import BUILT_IN, with_fractions
from ccmatic.language import add_beliefs, is_constant


class Unmeasured:
    """A delay that nobody knows, or what was not observed yet: what is worked out of it is as unknown, and no
    comparison with it holds."""

    def __init__(self, before):
        self.before = before

    def __getitem__(self, back):
        return self.before(back)

    def _unknown(self, *others):
        return self

    def _never(self, other):
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __neg__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _never
    __hash__ = None


class ObservedNumber(Fraction):
    """What is observed at a step; `[back]` gives what was observed so long before."""

    def __new__(cls, number, before):
        made = super().__new__(cls, number)
        made.before = before
        return made

    def __getitem__(self, back):
        return self.before(back)


class ObservedTruth:
    """The same of a condition."""

    def __init__(self, truth, before):
        self.truth, self.before = truth, before

    def __bool__(self):
        return self.truth

    def __getitem__(self, back):
        return self.before(back)


class OneOf(tuple):
    """What state may be, of which the network chooses; nothing reads it in the same step."""


class Within(NamedTuple):
    """What state may be from low to high, of which the network chooses, or a law that is not run."""

    low: Fraction
    high: Fraction

    def __contains__(self, number):
        return self.low <= number <= self.high


class _Impossible(Exception):
    """An `assume` is not so."""


class Program:
    """One source, compiled, with the beliefs that it reads. state: the names of what it remembers, which `update` then
    returns. beliefs: as of `add_beliefs`."""

    def __init__(self, source, file, state, beliefs=MappingProxyType({})):
        self._scope = {**BUILT_IN, "max": _extreme(max), "min": _extreme(min)}
        self._scope |= {"max_over": _extreme_over(max), "min_over": _extreme_over(min)}
        self._scope |= {"any_of": lambda *options: OneOf(options), "between": Within, "bounded": Within}
        self._scope["assume"] = _assume
        module = ast.parse(source)
        add_beliefs(module, beliefs)
        module = with_fractions(module, source, self._scope)
        module.body = [each for each in module.body if is_constant(each) or isinstance(each, ast.FunctionDef)]
        for function in module.body:
            if isinstance(function, ast.FunctionDef) and function.name == "update":
                _return_state(function, state)
                _leave_laws_out(function)
        exec(compile(ast.fix_missing_locations(module), file, "exec"), self._scope)

    def outcome(self, arguments):
        """What `update` makes of its arguments: of each piece of state, by name, a container of what it may be; None
        where something assumed is not so."""
        function = self._scope["update"]
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        try:
            made = function(**{name: arguments[name] for name in names})
        except _Impossible:
            return None
        return {name: each if isinstance(each, OneOf | Within) else OneOf([each]) for name, each in made.items()}

    def sends(self, arguments):
        """What it returns, in order: a window, a rate, or both."""
        function = self._scope["send"]
        names = function.__code__.co_varnames[: function.__code__.co_argcount]
        sent = function(**{name: arguments[name] for name in names})
        return sent if isinstance(sent, tuple) else (sent,)


def _return_state(function, state):
    """Let `update` return what it leaves in the names of state, each of which it is given."""
    given = {argument.arg for argument in function.args.args}
    function.args.args += [ast.arg(name) for name in state if name not in given]
    values = [ast.Name(name, ast.Load()) for name in state]
    function.body.append(ast.Return(ast.Dict([ast.Constant(name) for name in state], values)))


def _leave_laws_out(function):
    """Of `bounded(law, low, high)` only the bounds are run: a law may have no exact value."""
    for node in ast.walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bounded":
            del node.args[0]


def _assume(condition):
    if not condition:
        raise _Impossible


def _extreme(pick):
    def of(first, *others):
        values = (first, *others) if others else tuple(first)
        return next((value for value in values if isinstance(value, Unmeasured)), None) or pick(values)

    return of


def _extreme_over(pick):
    def of(seen, steps):
        return _extreme(pick)([seen[back] for back in range(int(steps))])

    return of
