"""The update at one step of an execution: a formula over unknowns, or the controller's own Python on numbers."""

import operator
from contextlib import contextmanager
from fractions import Fraction

from ccmatic.base import CONDITION, InputError
from ccmatic.language import (
    AnyOf,
    Between,
    Binary,
    Bounded,
    Extreme,
    If,
    Impossible,
    Local,
    Logic,
    Name,
    NextState,
    Number,
    Past,
    Walker,
    bare,
    leaves,
    names,
    parts,
    value,
)
from ccmatic.logic import boolean, choice, either, equal, every, linear, no, some
from ccmatic.worlds.encoder import Encoder, keeps_sign
from ccmatic.worlds.exact import ObservedNumber, ObservedTruth, UncertainNumber, UnknownNumber


class Step(Encoder):
    """Encodes an update at one step, from the state after the previous step and the observations of this step."""

    def __init__(self, controller, view, t, program):
        self.chosen, self.products = {}, {}
        self.now = {memory.name: view.state[memory.name][t] for memory in controller.state}
        before = {memory.name: view.state[memory.name][t - 1] for memory in controller.state} if t else {}
        super().__init__({**before, "R_m": view.R, "D": view.D, "MSS": view.alpha}, controller.file)
        self.controller, self.view, self.t, self.program = controller, view, t, program
        self.truths = {memory.name for memory in controller.state if memory.unit == CONDITION}
        self.few = {each.name for each in controller.observations.values() if each.few}
        self.few_in = _FewIn(self.few).of
        self.few_outside_tests = _FewOutsideTests(self.few).of

    def truth(self, memory):
        """Yield the law that a condition in the state is 0 or 1, because traces store conditions as numbers."""
        if memory.unit == CONDITION and self.view.numeric:
            now = self.now[memory.name]
            yield f"{memory.name}_is_true_or_false", self.t, some(equal(now, 0), equal(now, 1))

    def unseen(self, tree, dated=True):
        """Return the Name of an observation that the update may read before the sender has made it; otherwise None.

        Tests that depend only on the time exclude paths, unless the view is not `dated`: then it may begin at any time.
        """
        names = {"R_m": self.view.R, "D": self.view.D, "step": 1, **({"time": self.t} if dated else {})}
        reached = dict.fromkeys(_reached(tree, {name: Fraction(number) for name, number in names.items()}, {}))
        observed = (leaf for leaf in reached if isinstance(leaf, Name) and leaf.name in self.controller.observations)
        return next((leaf for leaf in observed if self.observed(leaf) is None), None)

    def updated(self):
        """If the execution consists of numbers, the controller's own Python decides."""
        if self.view.numeric:
            outcome = self.program.outcome(self.arguments())
            return outcome is not None and all(self.may_be(name, outcome[name]) for name in self.now)
        return self.becomes(self.controller.update)

    def may_be(self, name, outcome):
        """In a trace, True is stored as 1."""
        return self.now[name] in (map(bool, outcome) if name in self.truths else outcome)

    def becomes(self, tree):
        match tree:
            case If(test, then, other):
                condition = self.condition(test)
                if isinstance(condition, bool):
                    return self.becomes(then if condition else other)
                return either(condition, self.becomes(then), self.becomes(other))
            case Impossible():
                return False
            case NextState(values):
                return every([self.becomes_one(name, tree) for name, tree in values.items()])
        raise TypeError(f"no update: {tree!r}")

    def becomes_one(self, name, tree):
        now = self.now[name]
        if name in self.truths:
            return either(self.condition(tree), equal(now, 1), equal(now, 0))
        if isinstance(tree, Between | Bounded):
            return self.for_each_delay(name, tree.low, tree.high, self.lies)
        options = tree.terms if isinstance(tree, AnyOf) else (tree,)
        return some([self.for_each_delay(name, option, option, self.lies) for option in options])

    def for_each_delay(self, name, low, high, holds):
        """Return the formula of `holds(name, low, high)` for a state variable and its ends; None is no end.

        If the ends read delays, the formula has a case for each delay. An unknown delay may be any nonnegative number
        of steps. If a delay is unknown, the state may also stay unchanged.
        """
        within = (part for end in (low, high) if end is not None for part in self.few_outside_tests(end))
        part = next((part for part in within if part not in self.chosen), None)
        if part is None:
            return holds(name, low, high)
        readings, unbounded, cases = self.readings(part), self.unbounded(part), []
        for condition, number in readings:
            if number == unbounded:
                ends = self.opened(low, high, part, number)
                cases.append(every(condition, self.for_each_delay(name, *ends, holds)))
            else:
                with self.choosing(part, number):
                    cases.append(every(condition, self.for_each_delay(name, low, high, holds)))
        anything = self.for_each_delay(name, *self.opened(low, high, part, 0), holds)
        return some([*cases, every(self.unknown(part), some(self.unchanged(name), anything))])

    def unknown(self, part):
        return no(some([condition for condition, _ in self.readings(part)]))

    def lies(self, name, low, high):
        """Return the condition that a state variable lies between two trees. None stands for no end."""
        now = self.now[name]
        if low is high:
            return True if low is None else equal(now, self.form(low))
        return every(
            True if low is None else now >= self.form(low),
            True if high is None else now <= self.form(high),
        )

    def unchanged(self, name):
        return equal(self.now[name], self.values[name])

    def opened(self, low, high, part, least):
        """Return the two ends (trees or None) for a delay in them that may be any number from `least` steps on."""
        ends = _Ends(self, part, Number(Fraction(least))).walk
        return low if low is None else ends(low)[0], high if high is None else ends(high)[1]

    def unbounded(self, part):
        """Return the number of steps that also stands for all larger numbers; None if the delay has no such number."""
        return self.controller.observations[next(leaves(part)).name].unbounded(self.view)

    def sends(self):
        """If the controller does not set the window or the rate, that quantity has a value which is no limit."""
        self.values = {**self.values, **self.now}
        amounts = {"window": self.view.cwnd[self.t], "rate": self.view.r[self.t]}
        sent = self.controller.sent()
        if self.view.numeric:
            made = self.program.sends({**self.arguments(), **self.now})
            conditions = {name: amounts[name] == number for name, number in zip(sent, made, strict=True)}
        else:
            conditions = {name: self.is_sent(tree, amounts[name]) for name, tree in sent.items()}
        for name in amounts:
            if name in conditions:
                yield f"{name}_is_the_controllers", self.t, conditions[name]
            else:
                yield f"{name}_is_not_limited", self.t, self.limits_nothing(name)

    def part_of_sent(self):
        """Return the view's first window or rate that differs from the controller's, in parts of it; 0 without one."""
        amounts = {"window": self.view.cwnd[self.t], "rate": self.view.r[self.t]}
        made = self.program.sends({**self.arguments(), **self.now})
        pairs = ((amounts[name], own) for name, own in zip(self.controller.sent(), made, strict=True))
        amount, own = next(((amount, own) for amount, own in pairs if amount != own), (0, 1))
        return amount / own if isinstance(own, int | Fraction) and own > 0 else 0

    def limits_nothing(self, name):
        """Return the condition that the window, or the rate, is no limit in this step."""
        view, t = self.view, self.t
        if name == "rate":
            return view.r[t] >= view.unlimited
        if t < view.R:
            return True
        return view.S[t - view.R] + view.Ld[t] + view.cwnd[t] >= view.A[t - 1] + view.r[t]

    def is_sent(self, tree, amount):
        match tree:
            case If(test, then, other):
                return either(self.condition(test), self.is_sent(then, amount), self.is_sent(other, amount))
        return equal(amount, self.form(tree))

    def arguments(self):
        """Return the values that the controller's own Python reads at this step."""
        constants = {name: Fraction(self.values[name]) for name in ("R_m", "D", "MSS")}
        before = {name: self.values[name] for name in self.now if name in self.values}
        read = self.controller.parameters
        return {
            **constants,
            **before,
            **{name: self.observation_value(name, 0) for name in self.controller.observations if name in read},
        }

    def observation_value(self, name, back):
        """An unobserved value may take part in arithmetic, but comparisons with it do not hold."""
        observation = self.controller.observations[name]
        observed = observation.read(self.view, self.t - int(back)) if 0 <= back <= self.t else None
        if observation.few:
            observed = next((number for holds, number in observed or () if holds), None)

        def before(more):
            return self.observation_value(name, back + more)

        if observed is None:
            return UnknownNumber(before)
        if observation.few and observed == observation.unbounded(self.view):
            return UncertainNumber(Fraction(observed), Fraction(observed), None, before)
        return (ObservedTruth if isinstance(observed, bool) else ObservedNumber)(observed, before)

    def visit_Name(self, node):
        name, observations = node.name, self.controller.observations
        if node in self.chosen:
            return linear(self.chosen[node])
        if name in self.truths:
            return equal(self.values[name], 1)
        if name not in observations:
            return super().visit_Name(node)
        observed = self.observed(node)
        return observed if observations[name].unit == CONDITION else linear(observed)

    def visit_Extreme(self, node):
        if node in self.chosen:
            return linear(self.chosen[node])
        return (yield from super().visit_Extreme(node))

    def visit_Binary(self, node):
        """If a factor is conditional, the product is, too, because the other factor may be a count of steps."""
        for chosen, factor in ((node.left, node.right), (node.right, node.left)):
            if node.op == "*" and isinstance(bare(chosen), If):
                test, *branches = parts(bare(chosen))
                then, other = (self.product_of(node, branch, factor) for branch in branches)
                test = yield test
                if isinstance(test, bool):
                    return (yield then if test else other)
                return choice(test, (yield then), (yield other))
        return (yield from super().visit_Binary(node))

    def product_of(self, node, branch, factor):
        """Each call returns the same node, so a walk visits it only once."""
        key = id(branch), id(factor)
        return self.products.setdefault(key, Binary("*", branch, factor, node.line))

    def visit_Comparison(self, node):
        """Encode a comparison that reads a count of whole steps, with a case for each value of the count.

        The comparison is false while the count is unknown.
        """
        part = next((part for part in self.few_in(node) if part not in self.chosen), None)
        if part is None:
            return (yield from super().visit_Comparison(node))
        cases = []
        for condition, number in self.readings(part):
            with self.choosing(part, number):
                cases.append(every(condition, (yield node)))
        return some(cases)

    @contextmanager
    def choosing(self, part, number):
        """Fix a count of whole steps to one number while the context lasts."""
        # Memoised results depend on this number, so the context starts without memoised results.
        results, self._results, self.chosen[part] = self._results, {}, number
        yield
        self._results = results
        del self.chosen[part]

    def readings(self, tree):
        """Yield (condition, number) for each possible value of the count; none holds while the count is unknown."""
        tree = bare(tree)
        if isinstance(tree, Name):
            return self.observed(tree)
        alternatives = [self.readings(term) for term in tree.terms]
        within = operator.le if tree.pick == "max" else operator.ge
        pairs = []
        for number in sorted({number for readings in alternatives for _, number in readings}):
            reached = some([condition for readings in alternatives for condition, other in readings if other == number])
            kept = [
                some([condition for condition, other in readings if within(other, number)]) for readings in alternatives
            ]
            pairs.append((every(reached, *kept), number))
        return pairs

    def is_alike_from(self, tree, number):
        """Return whether a comparison has the same outcome for every delay of at least `number` steps."""
        few, differences = self.few_in(tree), []
        if len(few) != 1:
            return False
        for steps in (number, number + 1):
            with self.choosing(few[0], Fraction(steps)):
                differences.append(self.difference(tree))
        return keeps_sign(*differences)

    def observed(self, leaf):
        """Return the observation that a leaf reads; None if the sender has not yet made this observation."""
        back = self.form(leaf.back).constant if isinstance(leaf, Past) else Fraction(0)
        if back.denominator != 1 or back < 0:
            problem = "is between two steps" if back >= 0 else "is of a step to come, not yet observed"
            message = f"`{leaf.name}` of {back} steps before {problem}; expected a whole number of steps, at least 0"
            raise InputError(message, self.file, leaf.line)
        return self.controller.observations[leaf.name].read(self.view, self.t - int(back)) if back <= self.t else None


class OpenStep(Step):
    """A step in which each comparison that reads a count of whole steps may be true or false.

    `holds` contains an unknown for each such comparison. `name` is the prefix of the names of these unknowns.
    """

    def __init__(self, controller, view, t, name):
        super().__init__(controller, view, t, None)
        self.name, self.holds = name, {}

    def visit_Comparison(self, tree):
        if not self.few_in(tree):
            return (yield from super().visit_Comparison(tree))
        return self.holds.setdefault(tree, boolean(f"{self.name}_{len(self.holds)}"))

    def readings(self, tree):
        """A state that depends on a delay may take the value for any delay."""
        return []


class _Ends(Walker):
    """Computes the ends of a term (trees or None) if `part` of it may be any count of at least `least` steps."""

    def __init__(self, step, part, least):
        super().__init__(step.file)
        self.step, self.part, self.least = step, part, least

    def visit_object(self, node):
        if node == self.part:
            return self.least, None
        if self.part not in self.step.few_outside_tests(node):
            return node, node
        return (yield from self.within(node))

    visit_Local = visit_Function = visit_object

    def within(self, node):
        match node:
            case Local(_, term):
                return (yield term)
            case Extreme(pick, terms):
                return _extreme_of(pick, (yield from self.results(terms)))
            case Binary("+" | "-" as op, left, right):
                (low, high), (least, most) = (yield left), (yield right)
                if op == "-":
                    least, most = most, least
                return _joined_if_known(op, low, least), _joined_if_known(op, high, most)
            case Binary(op, left, right):
                scaled, factor = (left, right) if self.part in self.step.few_outside_tests(left) else (right, left)
                ends = yield scaled
                low, high = ends if self.step.form(factor).constant >= 0 else reversed(ends)
                return _joined_if_known(op, low, factor), _joined_if_known(op, high, factor)
        raise TypeError(f"no term of a delay: {node!r}")


def _joined_if_known(op, left, right):
    return None if left is None or right is None else Binary(op, left, right)


def _extreme_of(pick, several):
    """A term without a lower end does not affect the lower end of a maximum."""
    lows, highs = zip(*several, strict=True)
    near, far = (lows, highs) if pick == "max" else (highs, lows)
    known = tuple(end for end in near if end is not None)
    near = Extreme(pick, known) if known else None
    far = None if None in far else Extreme(pick, far)
    return (near, far) if pick == "max" else (far, near)


class _FewIn(Walker):
    """Finds the counts of whole steps in a tree: observations with the given names, and maxima or minima of these.

    The result for a tree is whether the tree itself is such a count, and the different counts within it.
    """

    def __init__(self, few):
        super().__init__()
        self.few = few

    def of(self, tree):
        return self.walk(tree)[1]

    def visit_Name(self, node):
        return (True, (node,)) if node.name in self.few else (False, ())

    def visit_Extreme(self, node):
        several = yield from self.results(node.terms)
        return (True, (node,)) if all(is_few for is_few, _ in several) else (False, _joined(several))

    def visit_object(self, node):
        return False, _joined((yield from self.results(parts(node))))

    visit_Function = visit_object


class _FewOutsideTests(_FewIn):
    """A pass that finds the same counts as `_FewIn`, except for counts that occur only in tests."""

    def visit_If(self, node):
        return False, _joined((yield from self.results((node.then, node.other))))


def _joined(several):
    return tuple(dict.fromkeys(part for _, within in several for part in within))


def _reached(tree, values, visited):
    """Yield the leaves of a tree that may be read, each at least once. `values` may decide some of the tree's tests.

    `visited` has the subtrees so far by id, because a tree may share subtrees.
    """
    if id(tree) in visited:
        return
    visited[id(tree)] = tree
    match tree:
        case If(test, then, other):
            yield from _reached(test, values, visited)
            truth = _truth(test, values)
            yield from _reached(then, values, visited) if truth is not False else ()
            yield from _reached(other, values, visited) if truth is not True else ()
        case Logic(op, several):
            for part in several:
                yield from _reached(part, values, visited)
                if _truth(part, values) is (op == "or"):
                    return
        case _ if within := parts(tree):
            for part in within:
                yield from _reached(part, values, visited)
        case _:
            yield tree


def _truth(test, values):
    decided = names(test) <= values.keys() and not any(isinstance(leaf, Past) for leaf in leaves(test))
    return value(test, values) if decided else None
