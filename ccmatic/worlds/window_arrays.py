"""Beliefs as arrays: programs over a window (`ccmatic.language.windows`) run for all links at once, in floats.

Each step stores the values that the next step reads: columns of the window for names in comprehensions, the values one
step earlier, the values at the start of the window, and the time for which conditions have held. So a comprehension
that requires a condition at all steps since a time costs one comparison. A comprehension over terms is a mask over
columns.
"""

import operator
from functools import reduce
from typing import NamedTuple

import jax.numpy as jnp

from ccmatic.language import Comprehension, Name, Past, value, within
from ccmatic.worlds.arrays import Values

#: A number that stands for no upper bound.
MOST = 1e12

_LOGIC = {"and": operator.and_, "or": operator.or_}

#: The conditions that never hold on simulated links, whose senders are never application-limited and never give bytes
#: up.
_NEVER = ("limited", "doubtful")


class Needs(NamedTuple):
    """The values that the next steps of a program will read.

    Attributes:
        columns: The names that are read at arbitrary steps of the window.
        first: The names that are read at the window's first step.
        runs: The comprehensions over steps since a time.
    """

    columns: frozenset
    first: frozenset
    runs: tuple


def needs(program):
    columns, first, runs = set(), set(), []
    for tree in program.definitions.values():
        for node in _nodes(tree):
            if isinstance(node, Comprehension) and node.since:
                runs.append(node)
            if isinstance(node, Past) and node.name not in (*_NEVER, *program.helpers):
                place = _place(node.back, _since(tree))
                if place == "begin":
                    first.add(node.name)
                elif place not in (0, 1):
                    columns.add("sent" if node.name == "admitted" else node.name)
    return Needs(frozenset(columns), frozenset(first), tuple(runs))


def _nodes(tree):
    yield tree
    for part in within(tree):
        yield from _nodes(part)


def _since(tree):
    """Return the variables of a tree's comprehensions that run over all steps since another time, by name."""
    return {node.index for node in _nodes(tree) if isinstance(node, Comprehension) and node.since}


def _place(back, since):
    """Return the place in the window at which a name is read.

    A number counts steps back from the current step. `begin` stands for the beginning of the window. A tuple (steps,)
    stands for that many steps after the time of the comprehension.
    """
    if back == Name("time"):
        return "begin"
    numbers = dict.fromkeys(("step", "R_m"), 1) | dict.fromkeys(since, 0)
    others = {node.name for node in _nodes(back) if type(node) is Name} - numbers.keys()
    if not others:
        return int(value(back, numbers))
    return (-int(value(back, numbers | dict.fromkeys(others, 0))),)


class Window(NamedTuple):
    """A window of observations at step `time`. Each observation has the shape (f, n).

    Attributes:
        time: The number of the step.
        now: The values at this step, by name.
        before: The values one step earlier, by name.
        first: The values when the window began, by name.
        columns: Arrays of shape (T, f, n), by name.
        runs: For each entry of `Needs.runs`, the number of steps, up to the previous step, for which the condition has
            held; or whether the condition ever held.
    """

    time: object
    now: dict
    before: dict
    first: dict
    columns: dict
    runs: dict


class WindowValues(Values):
    """Evaluates the functions of a program at a step of a Window.

    Each belief enters `window.now` as soon as it has been computed.
    """

    def __init__(self, program, need, window):
        super().__init__(window.now)
        self.program, self.need, self.window = program, need, window
        length = len(next(iter(window.columns.values())))
        self.over = window.time - jnp.arange(length).reshape(-1, 1, 1)  # steps from each place to now

    def function(self, name):
        return self.of(self.program.definitions[name])

    def runs(self):
        """Return, for each condition, the number of steps for which the condition has held by the end of this step."""
        return {place: self.walk(each, "run") for place, each in enumerate(self.need.runs)}

    def visit_Name(self, node, *context):
        if node.name in self.program.helpers:
            return (yield self.program.helpers[node.name])
        if node.name == "time":
            return self.window.time
        if node.name in _NEVER:
            return False
        return self.scope.get(node.name, self.over)

    def visit_Past(self, node):
        if node.name in _NEVER:
            return False
        since = {each.index for each in self.need.runs}
        place = _place(node.back, since)
        if node.name in self.program.helpers:
            if place == 0:
                return (yield self.program.helpers[node.name])
            self.refuse(node, f"`{node.name}` before has no {self.WORLD}; expected it in a comprehension over since(…)")
        if place == "begin":
            return self.window.first[node.name]
        if node.name == "admitted":
            return self.column("sent", place) - self.scope["lost"]
        return self.column(node.name, place)

    def column(self, name, place):
        if place == 0:
            return self.scope[name]
        if place == 1:
            return self.window.before[name]
        column = self.window.columns[name]
        if isinstance(place, int):
            return column[jnp.maximum(self.window.time - place, 0)]
        return jnp.roll(column, -place[0], 0)

    def visit_Comprehension(self, node, *context):
        if node.since:
            run = yield from self.run(node)
            if context or node.pick == "any":
                return run
            return run >= (self.window.time if node.since == "time" else self.over)
        mask = self.over >= 1
        if node.test is not None:
            mask = mask & (yield node.test)
        term = yield node.term
        if node.pick == "any":
            return (mask & term).any(0)
        if node.pick == "all":
            return (~mask | term).all(0)
        if node.pick == "max":
            return jnp.where(mask, term, 0).max(0)
        return jnp.where(mask, term, MOST).min(0)

    def run(self, node):
        """Return the number of steps for which a condition has held until now; or whether it ever held."""
        holds, before = (yield node.term), self.window.runs[self.need.runs.index(node)]
        return before | holds if node.pick == "any" else jnp.where(holds, before + 1, 0)

    def visit_If(self, node):
        test = yield node.test
        if isinstance(test, bool):
            return (yield node.then if test else node.other)
        return jnp.where(test, (yield node.then), (yield node.other))

    def visit_Not(self, node):
        part = yield node.part
        return not part if isinstance(part, bool) else ~part

    def visit_Logic(self, node):
        parts = yield from self.results(node.parts)
        decided = [part for part in parts if isinstance(part, bool)]
        if (node.op == "or") in decided:
            return node.op == "or"
        undecided = [part for part in parts if not isinstance(part, bool)]
        return reduce(_LOGIC[node.op], undecided) if undecided else node.op == "and"
