"""Values of a controller without a bound, such as a counter or a stored time. They explain an unknown claim."""

from collections.abc import Iterator
from typing import Any

from pysmt.shortcuts import Symbol
from pysmt.typing import REAL

from ccmatic.base import BYTES, NUMBER, TIME
from ccmatic.logic import Truth, isolated, no
from ccmatic.logic.solving import SAT, Checker
from ccmatic.proving.invariants.forms import comparisons
from ccmatic.proving.invariants.lasting import as_value
from ccmatic.proving.invariants.transition import TransitionSystem, derive
from ccmatic.questions.query import Query

#: A number of steps that no bounded state of a controller reaches.
LARGE = 10**6

#: For a state of each unit, an amount by which a counter grows, and an example of its limit.
STOPS = {NUMBER: ("1", "5"), TIME: ("step", "5 * R_m"), BYTES: ("MSS", "100 * MSS")}

#: The steps after the start of an execution, within which a test of the time says little about later steps.
EARLY = 10


@isolated
def unbounded(query: Query, controller: Any) -> list[str]:
    """Return a sentence about each state and each time of a controller that has no bound relative to the network.

    Args:
        query: The query.
        controller: The controller, as the query loads it. Its network has a transition system.
    """
    times = [each for each in getattr(controller, "dated", list)() if controller.observations[each].unit == TIME]
    counts = [each for each in controller.state if each.unit in STOPS]
    return list(_sentences(derive(query, controller), controller, counts, times)) if times or counts else []


def _sentences(system: TransitionSystem, controller: Any, counts: list[Any], times: list[str]) -> Iterator[str]:
    possible = _Possible(system)
    states = {each: Symbol(f"{each.name}_{system.now}", REAL) for each in counts}
    states = {each: before for each, before in states.items() if before in system.after}
    for each, before in states.items():
        others = [as_value(other) for about, other in states.items() if about.unit == each.unit and about is not each]
        small = [term * sign <= LARGE // 2 for term in others for sign in (1, -1)]
        if any(_grows(possible, small, as_value(before) * sign, system.after[before] * sign, each) for sign in (1, -1)):
            step, most = STOPS[each.unit]
            stops = f"`{each.name} = min({each.name} + {step}, {most})`"
            yield f"`{each.name}` (line {each.line}) has no bound; expected a state that stops, such as {stops}"
    for name in times:
        time = Symbol(f"{name}_{system.now + 1}", REAL)
        tests = [term <= 0 for term in comparisons(system.step) if time in term.coefficients]
        late = as_value(time) > EARLY
        if any(possible(late, test) and possible(late, no(test)) for test in tests):
            counts_up = "`waited = min(waited + step, 5 * R_m)`"
            problem = f"`{name}` (line {controller.line_of(name)}) has no bound: it is the time since the start"
            yield f"{problem}; expected a state that counts, such as {counts_up}"


def _grows(possible: "_Possible", small: list[Truth], before: Any, after: Any, memory: Any) -> bool:
    """Return whether a step can raise a state variable above LARGE, although all other variables of its unit are small.

    A window may become large as well, but some step lowers it. So a variable in bytes counts only if no step lowers it.
    """
    if memory.unit == BYTES and possible(after < before):
        return False
    return possible(before <= LARGE, after > LARGE, *small)


class _Possible:
    """Decides whether a step of a system satisfies further conditions."""

    def __init__(self, system: TransitionSystem) -> None:
        self._checker = Checker()
        for condition in (*system.current, *system.step):
            self._checker.add(condition)

    def __call__(self, *conditions: Truth) -> bool:
        self._checker.push()
        for condition in conditions:
            self._checker.add(condition)
        answer = self._checker.check()
        self._checker.pop()
        return answer == SAT
