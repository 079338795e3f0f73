"""Property: each execution that satisfies the given conditions avoids another condition, `what`."""

import ast
import re
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType

from ccmatic.properties.expressions import LONGEST, Expressions
from ccmatic.properties.quantities import in_words, quantity
from ccmatic.properties.repeating import exclusions, repeating

from ccmatic.base import InputError, counted, shown, syntax_tree
from ccmatic.contracts import Bounds, Exclusion, Fails, Implied, Property, Stated, WayToFail
from ccmatic.logic import equal, every, no

#: The default condition on packets, for models whose laws do not bound the packet size.
SMALL_PACKETS = "alpha < 1/5 * C * R"

#: A condition that a question with a declared first state adds: a counter of each sender is 0 at the start.
_COUNTER_AT_FIRST = re.compile(r"ALLT\(0, N, lambda n: (acked|Ld|marked)_f\[n\]\[0\] == 0\)")

_TEXT = {"metadata": {"text": True}}


@dataclass(frozen=True)
class Avoids(Property):
    """Each execution that satisfies the given conditions avoids the condition `what`.

        avoids(what="S[T-1] - S[0] < 1/2 * C * (T-1)", given="L[0] == 0; alpha < 1/4")

    Attributes:
        what: The condition to avoid, in the language of CCAC's queries (docs/reference/stateful.md).
        given: The conditions on executions, in the same language, separated by `;`.
        x: A number that the conditions may read by the name `x`.
        periodic: If positive, the trace ends as it began: its last `periodic` windows and rates equal its first ones.
            If 0, the trace may end in any state.
        repeats: If positive, the execution repeats after this many steps, including all state, so that it may go on for
            ever. If 0, the execution need not repeat.
    """

    name = "avoids"
    pauses = True
    quantity = staticmethod(quantity)

    #: The conditions of each named start.
    starts = MappingProxyType({"any": "", "empty": "A[0] == S[0]; L[0] == 0"})

    small_packets = SMALL_PACKETS

    what: str = field(default="", **_TEXT)
    given: str = field(default="", **_TEXT)
    x: Fraction = Fraction(0)
    periodic: Fraction = Fraction(0)
    repeats: Fraction = Fraction(0)

    @classmethod
    def from_parameters(cls, given, allow_code=False):
        """Return the property that a record describes.

        Records of earlier versions have the parameters `moves` and `known`. The function ignores both, because they
        follow from the controller.
        """
        texts = {name: value for name, value in given.items() if name in ("what", "given")}
        numbers = {name: value for name, value in given.items() if name not in (*texts, "moves", "known")}
        made = super().from_parameters(numbers, allow_code)
        for name, text in texts.items():
            if not isinstance(text, str) or len(text) > LONGEST:
                raise InputError(f"{name} is {shown(text)}; expected a condition of at most {LONGEST} characters")
        if not texts.get("what", "").strip():
            raise InputError("avoids says nothing; expected what=CONDITION, such as what='S[T-1] - S[0] < 1'")
        for name in ("periodic", "repeats"):
            if getattr(made, name).denominator != 1:
                raise InputError(f"{name} is {getattr(made, name)}; expected a whole number of steps")
        return replace(made, **texts)

    @property
    def period(self):
        """The period of the executions in steps; None if they need not repeat."""
        return int(self.repeats) or None

    def ways_to_fail(self, model, buffer):
        """Yield the only way to fail: an execution that satisfies `what`."""
        is_given = self.given.strip() or self.periodic or self.repeats
        premise = (lambda x: self._reason(model, x).premise.condition) if is_given else None
        more = {"bounds": Bounds.STAY} if self.repeats else {}
        reads = tuple(self.judges(model))
        yield WayToFail(self.what, lambda x: no(self._reason(model, x).condition), reads=reads, premise=premise, **more)

    def judges(self, model):
        """Return the beliefs that are necessary to judge a trace."""
        if self.repeats:
            return super().judges(model)
        conditions = f"{self.what}; {self.given}"
        return {each.name for each in model.beliefs if re.search(rf"\b{re.escape(each.name)}_f\b", conditions)}

    def exclusions(self, model, reads):
        """Yield the exclusions of repeating executions, and the exclusion of larger packets if the property has it."""
        if self.small_packets in self._given():
            yield Exclusion("packets", "MSS is C·R_m/5 or more")
        yield from counted_before(self._given())
        if self.repeats:
            yield from exclusions(model, reads)

    def of_small_packets(self, model):
        """Return the property for packets below C·R_m/5.

        If a given condition compares `alpha`, return this property itself.
        """
        if not model.windows or any(map(compares_packets, self._given())):
            return self
        return replace(self, given="; ".join((*self._given(), self.small_packets)))

    def _given(self):
        """Return the given conditions as a list of texts."""
        return [text.strip() for text in self.given.split(";") if text.strip()]

    def objectives(self, model, x):
        """Return the condition that the execution avoids `what`."""
        return {name: reason.condition for name, reason in self.reasons(model, x).items()}

    def reasons(self, model, x):
        """Return the condition of `objectives` with its explanation."""
        return {f"avoids {self.what}": self._reason(model, x)}

    def in_words(self, objective):
        """Return, in words, the expectation that `what` breaks; "" if `what` is about no known quantity."""
        return in_words(self.what, self.x) or objective

    def holds(self, objectives):
        """Return whether the execution avoids `what`."""
        return all(objectives.values())

    def _reason(self, model, x):
        reader = Expressions(x, model, self.x)
        given = [reader.condition(text) for text in self._given()]
        if self.periodic and not model.windows:
            raise InputError(f"{model.name} has no windows that are periodic; expected `repeats`")
        if self.periodic:
            given.append(periodic(model, x, int(self.periodic)))
        if self.repeats:
            given.append(repeating(model, x, self.period))
        says = [self.given] if self.given else []
        says += [f"it repeats itself every {counted(self.repeats, 'step')}"] if self.repeats else []
        premise = Stated(f"the premise holds: {' and '.join(says) or 'none is given'}", every(given))
        where = f", where x = {self.x}" if self.x else ""
        return Implied(premise, Fails(Stated(f"{self.what}{where}", reader.condition(self.what))))


def counted_before(given):
    """Yield the exclusion of starts with other counters, if conditions state the counters at the start."""
    counters = [match[1].replace("Ld", "lost") for text in given if (match := _COUNTER_AT_FIRST.fullmatch(text))]
    if counters:
        yield Exclusion("first state", f"the sender has counted {' or '.join(counters)} bytes before the start")


def compares_packets(text):
    """Return whether a condition is a comparison with `alpha` on one side, such as `alpha < 1/4`."""
    try:
        tree = syntax_tree(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # the reader of conditions reports the error
    sides = [tree.left, *tree.comparators] if isinstance(tree, ast.Compare) else []
    return any(isinstance(side, ast.Name) and side.id == "alpha" for side in sides)


def periodic(model, x, steps):
    """Return the condition that the trace ends as it began.

    At the end, the waiting bytes, the bytes in flight and the undetected losses are the same as at the start. The last
    `steps` windows and rates of each flow equal the flow's first ones. As in the published tool, the condition does not
    compare the controllers' state.
    """
    end = x.horizon - 1
    ends = [equal(x.admitted(end) - model.tokens(x, end), x.admitted(0) - model.tokens(x, 0))]
    for flow in x.flows:
        ends += [equal(flow.inflight(end), flow.inflight(0)), equal(flow.L[end] - flow.Ld[end], flow.L[0] - flow.Ld[0])]
        for i in range(steps):
            ends += [equal(column[end - i], column[steps - 1 - i]) for column in (flow.cwnd, flow.r)]
    return every(ends)


PROPERTY = Avoids
