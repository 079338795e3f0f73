"""Laws for controllers that repeat the last period of a trace for ever. They assume that the observations repeat."""

import operator
from contextlib import contextmanager
from functools import reduce
from math import ceil

from ccmatic.base import CONDITION, InputError, TooShort
from ccmatic.language import AnyOf, Between, Bounded, If, Impossible, Name, NextState, Walker, bare, names, parts
from ccmatic.logic import choice, either, equal, every, implies, linear, no, some
from ccmatic.worlds.step import Step


def forever(controller, view, decides):
    """Yield the laws (law name, t, formula) of a sender whose execution repeats for ever.

    In a period, each state variable returns to its value or grows by some number. In every later period, the state and
    the observations grow by the same numbers again. If each relevant comparison has the same outcome, the controller
    repeats its actions in the next period. For this to last for ever, the difference between the two sides of each
    comparison stays constant, or moves away from the value at which the outcome changes. The period begins at or after
    `decides`, the first step at which the controller decides.
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
    """Return the growth per period of each number that the update reads, by name."""
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
    """A step of the last period, with the corresponding steps in all later periods; `growths` is by name."""

    def __init__(self, controller, view, t, growths):
        super().__init__(controller, view, t, None)
        self.growths = growths
        self.later = _Later(self)
        self.growth = self.persists = self.later.walk

    def goes_on(self, tree):
        """Return the condition that the update has the same effect on state in each later period, except for growth.

        The condition concerns the path that the update takes through the tree.
        """
        match tree:
            case If(test, then, other):
                condition = self.condition(test)
                if isinstance(condition, bool):
                    return every(self.persists(test), self.goes_on(then if condition else other))
                return every(self.persists(test), either(condition, self.goes_on(then), self.goes_on(other)))
            case Impossible():
                return False
            case NextState(values):
                return every([self.goes_on_as(name, tree) for name, tree in values.items()])
        raise TypeError(f"no update: {tree!r}")

    def goes_on_as(self, name, tree):
        """Return the condition of `goes_on` for one state variable."""
        if name in self.truths:
            return self.persists(tree)
        match tree:
            case Between(low, high) | Bounded(_, low, high):
                return self.for_each_delay(name, low, high, self.grows_between)
            case AnyOf(terms):
                return some([self.for_each_delay(name, each, each, self.is_and_grows) for each in terms])
        return self.for_each_delay(name, tree, tree, self.grows_between)

    def grows_between(self, name, low, high):
        """Return the condition that the two ends of a state variable permit its growth per period."""
        grown = self.growths[name]
        if low is high:
            return True if low is None else self.grows(low, grown)
        below, low_holds = (grown, True) if low is None else self.growth(low)
        above, high_holds = (grown, True) if high is None else self.growth(high)
        return every(low_holds, high_holds, below <= grown, grown <= above)

    def is_and_grows(self, name, low, high):
        """Return the condition that a state variable lies between its ends, and that both ends permit its growth."""
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
        """Return the condition that the window, or the rate, is the same in each later period."""
        if isinstance(tree, If):
            return every(
                self.persists(tree.test),
                either(self.condition(tree.test), self.stays(tree.then), self.stays(tree.other)),
            )
        return self.grows(tree, linear(0))

    def grows(self, tree, by):
        growth, holds = self.growth(tree)
        return every(holds, equal(growth, by))

    def require_longer(self, tree, growth):
        difference = self.difference(tree).constant
        more = max(1, ceil(abs(difference / growth) * self.view.period))
        read = ", ".join(f"`{name}`" for name in sorted(names(tree)))
        problem = f"a comparison of {read} changes its outcome after step {self.t}, which is in the last period"
        raise TooShort(problem, self.view.horizon + more, self.controller.file)


class _Later(Walker):
    """Compares the value of a tree at a step of the last period with its values one, two and more periods later.

    For a term, the result is (growth, condition): if the condition holds, the term grows by `growth` in each later
    period. For a condition, the result is a formula which states that the outcome is the same in each later period.
    """

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
        return True  # other laws require that each condition repeats, whether it is observed or part of the state

    def visit_Binary(self, node):
        for chosen, factor in ((node.left, node.right), (node.right, node.left)):
            if node.op == "*" and isinstance(bare(chosen), If):
                test, *branches = parts(bare(chosen))
                return (
                    yield from self.growth_of_choice(
                        test, *(self.step.product_of(node, each, factor) for each in branches)
                    )
                )
        (of_left, left_holds), (of_right, right_holds) = (yield node.left), (yield node.right)
        if node.op == "*":  # one of the two factors is a number, which does not grow
            grown = self.step.form(node.left) * of_right + of_left * self.step.form(node.right)
        elif node.op == "/":
            grown = of_left / self.step.form(node.right).constant
        else:
            grown = of_left + of_right if node.op == "+" else of_left - of_right
        return grown, every(left_holds, right_holds)

    def visit_Extreme(self, node):
        """Require that the same term is the maximum or minimum in each later period.

        The growth of all terms decides whether this is so.
        """
        if node in self.step.chosen:
            return linear(0), True
        leads = operator.ge if node.pick == "max" else operator.le
        values = [self.step.form(term) for term in node.terms]
        growths, conditions = zip(*(yield from self.results(node.terms)), strict=True)
        if all(equal(growth, growths[0]) is True for growth in growths):
            return growths[0], every(conditions)
        most = reduce(lambda a, b: linear(choice(leads(a, b), a, b)), growths)
        pairs = list(zip(values, growths, strict=True))
        ahead = [every([every(leads(v, w), leads(g, h)) for w, h in pairs]) for v, g in pairs]
        return most, every(*conditions, some(ahead))

    def visit_If(self, node):
        return (yield from self.growth_of_choice(node.test, node.then, node.other))

    def growth_of_choice(self, test, then, other):
        condition, stays = self.step.condition(test), (yield test)
        if isinstance(condition, bool):
            growth, holds = yield then if condition else other
            return growth, every(stays, holds)
        (of_then, then_holds), (of_other, other_holds) = (yield then), (yield other)
        return linear(choice(condition, of_then, of_other)), every(stays, either(condition, then_holds, other_holds))

    def visit_Not(self, node):
        return (yield node.part)

    def visit_Logic(self, node):
        """Require that all parts keep their outcomes, or that one part which decides the result keeps its outcome.

        As in Python, evaluation stops at the first part that numbers decide.
        """
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
        """Describe a comparison.

        The difference of its sides must stay constant, or move away from the value at which the outcome changes.
        """
        (of_left, left_holds), (of_right, right_holds) = (yield node.left), (yield node.right)
        growth, step = of_left - of_right, self.step
        rises, falls = growth >= 0, growth <= 0
        if rises is True and falls is True:
            return every(left_holds, right_holds)
        match node.op:
            case "<" | "<=":
                lasts = either(step.condition(node), falls, rises)
            case ">" | ">=":
                lasts = either(step.condition(node), rises, falls)
            case _:
                difference = step.difference(node)
                stays = every(rises, falls)
                lasts = some(stays, every(difference > 0, rises), every(difference < 0, falls))
        if lasts is False and step.view.numeric is False:  # the result depends on the time alone, not on unknowns
            step.require_longer(node, growth.constant)
        return every(left_holds, right_holds, lasts)
