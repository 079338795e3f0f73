"""Beliefs as programs over a window (`ccmatic.language.windows`), evaluated on an execution.

The observations of the execution are numbers, or a solver's unknowns. Times are in steps, so `step` and R_m are 1.
"""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from ccmatic.base import BYTES, CONDITION, TIME, InputError, Unit, counted, read_text
from ccmatic.contracts.columns import Delay, Number
from ccmatic.contracts.views import FlowView
from ccmatic.language import (
    ARITHMETIC,
    ORDER,
    Binary,
    Comparison,
    Comprehension,
    Extreme,
    If,
    Logic,
    Name,
    Not,
    Past,
    comprehension_of,
    conjuncts,
    is_of_times,
    least_back,
    read_window,
    reads,
    within,
)
from ccmatic.language import Number as Literal
from ccmatic.logic import Truth, choice, either, equal, every, no, some

#: The observations that a program may read at each step of a window, and their units:
#: sent, acked, lost: the cumulative bytes that were sent, that were acknowledged, and that the sender knows to be
#: lost;
#: sending: bytes sent in the step;
#: admitted: cumulative bytes sent and not lost, as far as the sender knows by now;
#: timely, excess: lost bytes that show a busy link, or by how much the arrivals exceeded the free space (see
#: FlowView);
#: delay, first_delay: the delay of the last and of the first byte acknowledged, in whole steps;
#: limited: whether the sender sent less than its rate;
#: doubtful: whether the sender considers bytes lost that may still be acknowledged.
OBSERVATIONS: dict[str, Unit | str] = {
    "sent": BYTES,
    "acked": BYTES,
    "lost": BYTES,
    "sending": BYTES,
    "admitted": BYTES,
    "timely": BYTES,
    "excess": BYTES,
    "delay": TIME,
    "first_delay": TIME,
    "limited": CONDITION,
    "doubtful": CONDITION,
}

_READ: dict[str, Callable[[FlowView, int], Any]] = {
    "sent": lambda x, t: x.A[t],
    "acked": lambda x, t: x.S[t],
    "lost": lambda x, t: x.Ld[t],
    "sending": lambda x, t: x.sent(t),
    "admitted": lambda x, t: x.admitted(t),
    "timely": lambda x, t: x.timely[t],
    "excess": lambda x, t: x.excess[t],
    "limited": lambda x, t: x.limited[t],
    "doubtful": lambda x, t: False,
}
_DELAYS: dict[str, Callable[[FlowView], Delay]] = {
    "delay": lambda x: x.Q,  # type: ignore[return-value, dict-item]
    "first_delay": lambda x: x.F,  # type: ignore[return-value, dict-item]
}

#: The suffixes of function names. NAME_start and NAME_timeout belong to the belief NAME.
START, TIMEOUT = "_start", "_timeout"


class Program:
    """A program that computes several beliefs together.

    For a belief NAME the program has these functions:

    - NAME returns the samples of a running bound, or the value of another belief.
    - NAME_start returns the value without any history. This function is required if NAME reads earlier values.
    - NAME_timeout returns the value at the end of a window of a deployed controller.

    Any other function is a helper of these functions.
    """

    def __init__(self, source: str, beliefs: Mapping[str, Unit], file: str | None = None) -> None:
        """Read a program.

        Args:
            source: The text; `ccmatic.language.windows` describes the language.
            beliefs: The units, by name, of the beliefs that the program defines or reads.
            file: The file that contains the text, for messages.

        Raises:
            InputError: If the source is no such program. The error names the line in `file`.
        """
        self.source, self.beliefs, self.file = source, dict(beliefs), file
        self._before = _lines_before(source, file)
        try:
            functions: dict[str, tuple[Any, Any]] = read_window(source, OBSERVATIONS, self.beliefs, file)
        except InputError as error:
            raise self.error(error.message, error.line) from None
        self.definitions = {name: tree for name, (tree, _) in functions.items()}
        self.units = {name: unit for name, (_, unit) in functions.items()}
        self.helpers = {name: tree for name, tree in self.definitions.items() if name not in self.beliefs}

    def reads(self, name: str) -> set[str]:
        """Return the names that a function reads, directly or through other functions of the program."""
        return set(reads(self.definitions[name], self.helpers))

    def reads_now(self, name: str) -> set[str]:
        """Return the names that a function may read at its own step, directly or through other functions."""
        return self._read_now(self.definitions[name], {})

    def _read_now(self, tree: Any, since: Mapping[str, str | None]) -> set[str]:
        match tree:
            case Past(back=back) if least_back(back, since) != 0:
                return set()
            case Name(name):
                return {name, *(self._read_now(self.helpers[name], {}) if name in self.helpers else ())}
            case Comprehension(index=index, since=outer):
                since = {**since, index: outer}
        return set().union(*(self._read_now(part, since) for part in within(tree)))

    def line(self, name: str) -> int:
        return self.source.count("\n", 0, self.source.index(f"def {name}(")) + 1

    def require_start(self, name: str) -> None:
        """Require that the value of a state belief is defined at the first step.

        Raises:
            InputError: If the belief's function reads a time before the window without a test of `time`, and the
                program has no NAME_start. The error names the line.
        """
        if name + START in self.definitions or "time" in self.reads(name):
            return
        if past := self._outside_comprehensions(self.definitions[name]):
            message = f"`{past.name}[…]` is read also in the first step, before which it has no value"
            raise self.error(f"{message}; expected a function `{name}{START}`, {name} in that step", past.line)

    def _outside_comprehensions(self, tree: Any) -> Past | None:
        """Return an earlier value that a tree reads outside of comprehensions, which never read before the window."""
        if isinstance(tree, Past):
            return tree
        if isinstance(tree, Name) and tree.name in self.helpers:
            return self._outside_comprehensions(self.helpers[tree.name])
        inner = () if isinstance(tree, Comprehension) else within(tree)
        return next(filter(None, map(self._outside_comprehensions, inner)), None)

    def error(self, message: str, line: int | None) -> InputError:
        return InputError(message, self.file, (line or 1) + self._before)

    def text(self, name: str) -> str:
        start = self.source.index(f"def {name}(")
        end = self.source.find("\ndef ", start)
        return self.source[start : end if end >= 0 else None].strip()

    def is_bound(self, name: str) -> bool:
        """Return whether a function returns samples, as the function of a running bound does."""
        tree = self.definitions[name]
        while isinstance(tree, Name) and tree.name in self.helpers:
            tree = self.helpers[tree.name]
        return isinstance(tree, Comprehension)

    def samples(self, name: str) -> Any:
        """Return the Comprehension that gives the samples of a running bound."""
        return comprehension_of(self.definitions[name], self.helpers)

    def at(self, x: FlowView, t: int, delay: int | None = None) -> "Moment":
        """Return the Moment of the program at a step of an execution. If given, `delay` replaces the delays of `x`."""
        return Moment(self, x, t, delay, {})


def _lines_before(source: str, file: str | None) -> int:
    """Return the number of lines before a text in a file; 0 if the file does not contain the text verbatim."""
    written = read_text(file) if file else ""
    return written.count("\n", 0, max(0, written.find(source)))


@dataclass(frozen=True, slots=True)
class Moment:
    """A program at step t of an execution.

    Its methods evaluate trees. If given, `delay` replaces the last byte's delay.
    """

    program: Program
    x: FlowView
    t: int
    delay: int | None
    _memo: dict[tuple[str, int], Any]

    def samples(self, name: str) -> Iterator[tuple[Number, Number | int, Truth]]:
        """Yield (amount, over, when) for each Sample of a running bound, the oldest first."""
        comprehension = self.program.samples(name)
        tests = conjuncts(comprehension.test)
        there = [test for test in tests if is_of_times(test, comprehension.index)]
        observed = [test for test in tests if test not in there]
        for back in range(self.t, 0, -1):
            index = {comprehension.index: back}
            if not all(self.truth(test, index) for test in there):
                continue
            when = _joined(True, (self.truth(test, index) for test in observed))
            match comprehension.term:
                case Binary("/", amount, over):
                    yield self.term(amount, index), self.term(over, index), when
                case term:
                    yield self.term(term, index), 1, when

    def value(self, name: str) -> Any:
        if (name, self.t) not in self._memo:
            of = self.truth if self.program.units[name] == CONDITION else self.term
            self._memo[name, self.t] = of(self.program.definitions[name], {})
        return self._memo[name, self.t]

    def bounded_by(self, name: str, value: Number) -> Truth:
        """Return linear conditions that together say: `value` equals the result of a function."""
        tree = self.program.definitions[name]
        return every(self._compares(operator.le, tree, value), self._compares(operator.ge, tree, value))

    def _compares(self, order: Callable[..., Truth], tree: object, value: Number) -> Truth:
        if not isinstance(tree, Extreme):
            return order(value, self.term(tree, {}))
        joined = every if (tree.pick == "min") == (order is operator.le) else some
        return joined([self._compares(order, term, value) for term in tree.terms])

    def before(self, back: int) -> "Moment":
        return Moment(self.program, self.x, self.t - back, self.delay, self._memo)

    def earlier(self, past: Past, index: Mapping[str, int]) -> Any:
        back = int(self.term(past.back, index))
        if back > self.t:
            message = f"`{past.name}[…]` is read {counted(back, 'step')} back where the window has {self.t}"
            raise self.program.error(f"{message}; expected a test of `time` before", past.line)
        return self.before(back).read(past.name)

    def read(self, name: str) -> Any:
        if name in self.program.beliefs:
            return self.x.before_timeout[name][self.t]
        if name in _READ:
            return _READ[name](self.x, self.t)
        if name in _DELAYS:
            return _DELAYS[name](self.x).steps(self.t) if self.delay is None else self.delay
        match name:
            case "D":
                return self.x.D
            case "MSS":
                return self.x.alpha
            case "R_m" | "step":
                return 1
            case "time":
                return self.t
        return self.value(name)

    def term(self, tree: Any, index: Mapping[str, int]) -> Any:
        """Return the value of a term. `index` has the current times of the enclosing comprehensions, by name."""
        match tree:
            case Literal(number):
                return number
            case Past():
                return self.earlier(tree, index)
            case Name(name):
                return index[name] if name in index else self.read(name)
            case Binary("/", left, right):
                amount = self.term(left, index)
                return (Fraction(amount) if isinstance(amount, int) else amount) / self.term(right, index)
            case Binary(op, left, right):
                return ARITHMETIC[op](self.term(left, index), self.term(right, index))
            case Extreme(pick, terms):
                return _extreme(pick, (case for term in terms for case in self._cases(pick, term, index)))
            case If(test, then, other):
                decided = self.truth(test, index)
                if isinstance(decided, bool):
                    return self.term(then if decided else other, index)
                return choice(decided, self.term(then, index), self.term(other, index))
            case Comprehension(pick):
                return _extreme(pick, self._cases(pick, tree, index))
        raise TypeError(f"no term: {tree!r}")

    def _cases(self, pick: str, tree: Any, index: Mapping[str, int]) -> Iterable[tuple[Truth, Any]]:
        """Yield (condition, value): the term is the largest or smallest of the values whose conditions hold."""
        comprehension = tree
        if isinstance(tree, Name) and tree.name in self.program.helpers:
            comprehension = self.program.definitions[tree.name]
        if not isinstance(comprehension, Comprehension) or comprehension.pick != pick:
            yield True, self.term(tree, index)
            return
        for back in self._times(comprehension, index):
            inner = {**index, comprehension.index: back}
            when = comprehension.test is None or self.truth(comprehension.test, inner)
            if when is not False:
                yield when, self.term(comprehension.term, inner)

    def _times(self, comprehension: Comprehension, index: Mapping[str, int]) -> Iterable[int]:
        if comprehension.since is None:
            return range(self.t, 0, -1)
        return range(index.get(comprehension.since, self.t) - 1, -1, -1)

    def truth(self, tree: Any, index: Mapping[str, int]) -> Truth:
        """Return the condition that a tree expresses; True or False if numbers decide the condition."""
        match tree:
            case Comparison(op, Name(name) as delay, right) if name in _DELAYS and self.delay is None:
                return self._late(op, delay, self.term(right, index), index)
            case Comparison(op, left, right):
                one, other = self.term(left, index), self.term(right, index)
                if op in ("==", "!="):
                    return equal(one, other) if op == "==" else no(equal(one, other))
                compared: Truth = ORDER[op](one, other)
                return compared
            case Logic(op, conditions):
                return _joined(op == "and", (self.truth(part, index) for part in conditions))
            case Not(part):
                return no(self.truth(part, index))
            case If(test, then, other):
                return either(self.truth(test, index), self.truth(then, index), self.truth(other, index))
            case Past():
                return self.earlier(tree, index)  # type: ignore[no-any-return]
            case Name(name):
                return self.read(name)  # type: ignore[no-any-return]
            case Comprehension(pick, name, _, term, test):
                # Recent times come first, because they are most likely to decide `any`.
                times = [*self._times(tree, index)]
                cases = (
                    self._if(test, term, {**index, name: back}) for back in (times[::-1] if pick == "any" else times)
                )
                return _joined(pick == "all", (either for either in cases if either is not None))
        raise TypeError(f"no condition: {tree!r}")

    def _if(self, test: Any, term: Any, index: Mapping[str, int]) -> Truth | None:
        """Return the condition at one time of a comprehension; None if the test excludes this time."""
        if test is not None and not self.truth(test, index):
            return None
        return self.truth(term, index)

    def _late(self, op: str, name: Name, steps: Any, index: Mapping[str, int]) -> Truth:
        """Return the condition of a comparison between a delay, in whole steps, and a number."""
        back = int(self.term(name.back, index)) if isinstance(name, Past) else 0
        delay = _DELAYS[name.name](self.x)
        if op in (">", "<="):
            late = delay.at_least(self.t - back, floor(steps) + 1)
        elif op in (">=", "<"):
            late = delay.at_least(self.t - back, ceil(steps))
        else:
            raise InputError(f"compares `{name.name}` by {op}; expected one of < <= > >=", self.program.file)
        return late if op in (">", ">=") else no(late)


def _joined(is_and: bool, conditions: Iterable[Truth]) -> Truth:
    """As in Python, evaluation stops at the first condition that decides the result."""
    undecided = []
    for condition in conditions:
        if not isinstance(condition, bool):
            undecided.append(condition)
        elif condition != is_and:
            return condition
    return every(undecided) if is_and else some(undecided)


def _extreme(pick: str, cases: Iterable[tuple[Truth, Any]]) -> Any:
    """The condition of the first value always holds."""
    first, best = operator.ge if pick == "max" else operator.le, None
    for when, value in cases:
        best = value if best is None else choice(every(when, first(value, best)), value, best)
    return best
