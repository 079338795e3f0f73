"""That a controller goes on for ever as in the last period of a trace, where what it observes goes on likewise."""

import operator
from contextlib import contextmanager
from functools import reduce
from math import ceil

from ccmatic.base import CONDITION, InputError, TooShort
from ccmatic.compilers.formula.step import Step
from ccmatic.language import AnyOf, Between, Bounded, If, Impossible, Name, Remembered, Walker, bare, names, parts
from ccmatic.logic import choice, either, equal, every, implies, linear, no, some


def forever(controller, view, decides):
    """The laws of a sender whose execution repeats itself: (law name, t, formula).

    A piece of state is at the end what it was a period before, or has grown by some number: then it grows by the same
    number in each period, as what is observed does. What the controller does in a period it does in the next if each
    comparison that matters comes out the same. It does for ever if the difference of the two sides stays, or moves away
    from where the comparison would turn.

    decides: the first step at which the controller decides. Raises InputError if the last period begins before that.
    """
    end = view.horizon - 1
    begin = end - view.period
    if controller.state and decides > begin + 1:
        problem = f"decides from step {decides} on, the last period begins at step {begin}"
        raise TooShort(problem, decides + view.period, controller.file)
    growths = _growths(controller, view, begin, end)
    for memory in controller.state:
        if memory.unit == CONDITION:
            column = view.state[memory.name]
            yield f"{memory.name}_repeats", end, equal(column[end], column[begin])
    for t in range(begin + 1, end + 1):
        step = _Onward(controller, view, t, growths)
        for name in controller.parameters:
            beyond = controller.observations[name].beyond if name in controller.observations else None
            if beyond:
                yield f"{name}_is_told_apart", t, no(beyond(view, t))
        if controller.state:
            yield "update_goes_on", t, step.goes_on(controller.update)
        step.values = {**step.values, **step.now}
        for name, tree in controller.sent().items():
            yield f"{name}_goes_on", t, step.stays(tree)


def _growths(controller, view, begin, end):
    """By how much each number that the update reads grows in a period, by name."""
    growths = dict.fromkeys(("R_m", "D", "MSS"), linear(0))
    sent = {tree.name for tree in controller.sent().values() if isinstance(tree, Name)}
    for memory in controller.state:
        column = view.state[memory.name]
        growths[memory.name] = linear(0 if memory.name in sent else column[end] - column[begin])
    for name in controller.parameters:
        observation = controller.observations.get(name)
        if observation is None or observation.few or observation.unit == CONDITION:
            continue
        before, now = observation.read(view, begin), observation.read(view, end)
        if before is None:
            problem = f"`{name}` is not observed at step {begin}, at which the last period begins"
            raise InputError(f"{problem}; expected a longer horizon", controller.file)
        growths[name] = linear(0) if observation.constant else linear(now) - before
    return growths


class _Onward(Step):
    """A step of the last period, and what it is in each later period. growths: of what is read, by name."""

    def __init__(self, controller, view, t, growths):
        super().__init__(controller, view, t, None)
        self.growths = growths
        self.later = _Later(self)
        self.growth = self.persists = self.later.walk

    def goes_on(self, tree):
        """That the update, on the path that it takes, makes of state in each later period what it makes of it now, and
        the growth."""
        match tree:
            case If(test, then, other):
                condition = self.condition(test)
                if isinstance(condition, bool):
                    return every(self.persists(test), self.goes_on(then if condition else other))
                return every(self.persists(test), either(condition, self.goes_on(then), self.goes_on(other)))
            case Impossible():
                return False
            case Remembered(values):
                return every([self.goes_on_as(name, tree) for name, tree in values.items()])
        raise TypeError(f"no update: {tree!r}")

    def goes_on_as(self, name, tree):
        """The same of one piece of state."""
        if name in self.truths:
            return self.persists(tree)
        match tree:
            case Between(low, high) | Bounded(_, low, high):
                return self.for_each_delay(name, low, high, self.grows_between)
            case AnyOf(terms):
                return some([self.for_each_delay(name, each, each, self.is_and_grows) for each in terms])
        return self.for_each_delay(name, tree, tree, self.grows_between)

    def grows_between(self, name, low, high):
        """A piece of state grows as its ends let it."""
        grown = self.growths[name]
        if low is high:
            return True if low is None else self.grows(low, grown)
        below, low_so = (grown, True) if low is None else self.growth(low)
        above, high_so = (grown, True) if high is None else self.growth(high)
        return every(low_so, high_so, below <= grown, grown <= above)

    def is_and_grows(self, name, low, high):
        """A piece of state lies between its ends, and grows as they let it."""
        return every(self.lies(name, low, high), self.grows_between(name, low, high))

    def unchanged(self, name):
        return every(super().unchanged(name), equal(self.growths[name], 0))

    @contextmanager
    def choosing(self, part, number):
        results, self.later._results = self.later._results, {}
        with super().choosing(part, number):
            yield
        self.later._results = results

    def stays(self, tree):
        """That what is sent by is the same in each later period."""
        if isinstance(tree, If):
            return every(
                self.persists(tree.test),
                either(self.condition(tree.test), self.stays(tree.then), self.stays(tree.other)),
            )
        return self.grows(tree, linear(0))

    def grows(self, tree, by):
        growth, so = self.growth(tree)
        return every(so, equal(growth, by))

    def require_longer(self, tree, growth):
        difference = self.difference(tree).constant
        more = max(1, ceil(abs(difference / growth) * self.view.period))
        read = ", ".join(f"`{name}`" for name in sorted(names(tree)))
        problem = f"a comparison of {read} changes its outcome after step {self.t}, which is in the last period"
        raise TooShort(problem, self.view.horizon + more, self.controller.file)


class _Later(Walker):
    """What is so in each later period, at a step of the last.

    Of a term: (growth, condition), it grows by so much in each later period if the condition holds. Of a condition:
    that it comes out in each later period as it does now."""

    def __init__(self, step):
        super().__init__(step.file)
        self.step = step

    def visit_Number(self, node):
        return linear(0), True

    def visit_Name(self, node):
        if node in self.step.chosen:
            return linear(0), True
        if node.name in self.step.growths and node.name not in self.step.truths:
            return self.step.growths[node.name], True
        return True  # a condition of what is observed, or of state that is compared itself

    def visit_Binary(self, node):
        for chosen, factor in ((node.left, node.right), (node.right, node.left)):
            if node.op == "*" and isinstance(bare(chosen), If):
                test, *branches = parts(bare(chosen))
                return (yield from self.chosen(test, *(self.step.product_of(node, each, factor) for each in branches)))
        (of_left, left_so), (of_right, right_so) = (yield node.left), (yield node.right)
        if node.op == "*":  # of a number, which does not grow, and a term
            grown = self.step.form(node.left) * of_right + of_left * self.step.form(node.right)
        elif node.op == "/":
            grown = of_left / self.step.form(node.right).constant
        else:
            grown = of_left + of_right if node.op == "+" else of_left - of_right
        return grown, every(left_so, right_so)

    def visit_Extreme(self, node):
        """One of the terms leads, and grows at least as much as the others."""
        if node in self.step.chosen:
            return linear(0), True
        leads = operator.ge if node.pick == "max" else operator.le
        values = [self.step.form(term) for term in node.terms]
        growths, conditions = zip(*(yield from self.each(node.terms)), strict=True)
        if all(equal(growth, growths[0]) is True for growth in growths):
            return growths[0], every(conditions)
        most = reduce(lambda a, b: linear(choice(leads(a, b), a, b)), growths)
        pairs = list(zip(values, growths, strict=True))
        ahead = [every([every(leads(v, w), leads(g, h)) for w, h in pairs]) for v, g in pairs]
        return most, every(*conditions, some(ahead))

    def visit_If(self, node):
        return (yield from self.chosen(node.test, node.then, node.other))

    def chosen(self, test, then, other):
        """Of `then if test else other`."""
        condition, stays = self.step.condition(test), (yield test)
        if isinstance(condition, bool):
            growth, so = yield then if condition else other
            return growth, every(stays, so)
        (of_then, then_so), (of_other, other_so) = (yield then), (yield other)
        return linear(choice(condition, of_then, of_other)), every(stays, either(condition, then_so, other_so))

    def visit_Not(self, node):
        return (yield node.part)

    def visit_Logic(self, node):
        """All parts do, or one does that decides the outcome. As Python does, those after a decided one are left."""
        lasting, deciding, decisive = [], [], node.op == "or"
        for part in node.parts:
            condition, lasts = self.step.condition(part), (yield part)
            lasting.append(lasts)
            deciding.append(every(condition if decisive else no(condition), lasts))
            if condition is decisive:
                break
        return some(every(lasting), *deciding)

    def visit_Comparison(self, node):
        step = self.step
        part = next((part for part in step.few_in(node) if part not in step.chosen), None)
        if part is None:
            return (yield from self.difference(node))
        cases = []
        for condition, number in step.readings(part):
            with step.choosing(part, number):
                cases.append(implies(condition, (yield node)))
        return every(cases)

    def difference(self, node):
        """Of a comparison of numbers: the difference of its sides stays, or moves away from where it would turn."""
        (of_left, left_so), (of_right, right_so) = (yield node.left), (yield node.right)
        growth, step = of_left - of_right, self.step
        rises, falls = growth >= 0, growth <= 0
        if rises is True and falls is True:
            return every(left_so, right_so)
        match node.op:
            case "<" | "<=":
                lasts = either(step.condition(node), falls, rises)
            case ">" | ">=":
                lasts = either(step.condition(node), rises, falls)
            case _:
                difference = step.difference(node)
                stays = every(rises, falls)
                lasts = some(stays, every(difference > 0, rises), every(difference < 0, falls))
        if lasts is False and step.view.numeric is False:  # of the time alone, which no solver decides
            step.require_longer(node, growth.constant)
        return every(left_so, right_so, lasts)
