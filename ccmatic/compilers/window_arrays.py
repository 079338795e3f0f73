"""Beliefs as arrays: programs over a window (`ccmatic.language.windows`) worked out for all links at once, in floats.

A step keeps what the next one reads: columns of the window for names that comprehensions go over, the values one step
before, the values when the window began, and how long conditions have held. So a comprehension over conditions of all
steps since a time costs one comparison, and one over terms is a mask over columns.
"""

import operator
from functools import reduce
from typing import NamedTuple

import jax.numpy as jnp

from ccmatic.compilers.arrays import Values
from ccmatic.language import Each, Name, Past, value, within

#: An upper bound of nobody.
MOST = 1e12

_LOGIC = {"and": operator.and_, "or": operator.or_}

#: What senders on simulated links never say: that they were limited, or gave bytes up.
_NEVER = ("limited", "doubtful")


class Needs(NamedTuple):
    """What the next steps read of a program. columns, first: names, at any step and at the window's first; runs: the
    comprehensions over steps since a time."""

    columns: frozenset
    first: frozenset
    runs: tuple


def needs(program):
    """The Needs of a program."""
    columns, first, runs = set(), set(), []
    for tree in program.definitions.values():
        for node in _nodes(tree):
            if isinstance(node, Each) and node.since:
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
    """The names of the times of comprehensions over steps since a time, in a tree."""
    return {node.index for node in _nodes(tree) if isinstance(node, Each) and node.since}


def _place(back, since):
    """How long before a name is read: a number of steps, `begin`, or (steps,): so many after a comprehension's time."""
    if back == Name("time"):
        return "begin"
    numbers = dict.fromkeys(("step", "R_m"), 1) | dict.fromkeys(since, 0)
    others = {node.name for node in _nodes(back) if type(node) is Name} - numbers.keys()
    if not others:
        return int(value(back, numbers))
    return (-int(value(back, numbers | dict.fromkeys(others, 0))),)


class Window(NamedTuple):
    """A window of observations at step `time`, (f, n) each.

    now, before, first: values by name, at this step, at the one before, and when the window began. columns: (T, f, n)
    by name. runs: for how many steps, to the one before, conditions have held, or whether one ever did; by place in
    `Needs.runs`.
    """

    time: object
    now: dict
    before: dict
    first: dict
    columns: dict
    runs: dict


class WindowValues(Values):
    """The functions of a program at a step of a Window. Beliefs are in `window.now` as soon as they are worked out."""

    def __init__(self, program, need, window):
        super().__init__(window.now)
        self.program, self.need, self.window = program, need, window
        length = len(next(iter(window.columns.values())))
        self.over = window.time - jnp.arange(length).reshape(-1, 1, 1)  # steps from each place to now

    def function(self, name):
        """The number or condition that a function returns."""
        return self.of(self.program.definitions[name])

    def runs(self):
        """How long the conditions have held, after this step."""
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
        """What was observed or believed at a place before."""
        if place == 0:
            return self.scope[name]
        if place == 1:
            return self.window.before[name]
        column = self.window.columns[name]
        if isinstance(place, int):
            return column[jnp.maximum(self.window.time - place, 0)]
        return jnp.roll(column, -place[0], 0)

    def visit_Each(self, node, *context):
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
        """For how many steps, to this one, a condition has held; or whether it ever did in this window."""
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
        parts = yield from self.each(node.parts)
        decided = [part for part in parts if isinstance(part, bool)]
        if (node.op == "or") in decided:
            return node.op == "or"
        undecided = [part for part in parts if not isinstance(part, bool)]
        return reduce(_LOGIC[node.op], undecided) if undecided else node.op == "and"
