"""That no execution is such as an expression says, of those of which others are true."""

import ast
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType

from ccmatic.properties.expressions import LONGEST, Expressions
from ccmatic.properties.quantities import quantity
from ccmatic.properties.repeating import exclusions, repeating

from ccmatic.base import InputError, shown
from ccmatic.contracts import Bounds, Exclusion, Fails, Implied, Property, Stated, WayToFail
from ccmatic.logic import equal, every, no

#: What is given of packets by default, where the laws of a model do not say it.
SMALL_PACKETS = "alpha < 1/5 * C * R"

_TEXT = {"metadata": {"text": True}}


@dataclass(frozen=True)
class Avoids(Property):
    """what, given: conditions on an execution, in the language of CCAC's queries (docs/stateful.md); several are given
    with `;` between them. x: a number that they may read. periodic: the trace ends as it began, with the last so many
    windows and rates those of the first so many steps; 0 is not periodic. repeats: it repeats itself after so many
    steps, all state included, and so may go on for ever; 0: it need not.

        avoids(what="S[T-1] - S[0] < 1/2 * C * (T-1)", given="L[0] == 0; alpha < 1/4")
    """

    name = "avoids"
    quantity = staticmethod(quantity)

    #: What is given of executions that begin so.
    starts = MappingProxyType({"any": "", "empty": "A[0] == S[0]; L[0] == 0"})

    small_packets = SMALL_PACKETS

    what: str = field(default="", **_TEXT)
    given: str = field(default="", **_TEXT)
    x: Fraction = Fraction(0)
    periodic: Fraction = Fraction(0)
    repeats: Fraction = Fraction(0)

    @classmethod
    def from_parameters(cls, given, allow_code=False):
        """As recorded. `moves` and `known`, which earlier versions recorded, follow from the controller."""
        texts = {name: value for name, value in given.items() if name in ("what", "given")}
        numbers = {name: value for name, value in given.items() if name not in (*texts, "moves", "known")}
        made = super().from_parameters(numbers, allow_code)
        if not all(isinstance(text, str) and len(text) <= LONGEST for text in texts.values()):
            raise InputError(f"{shown(texts)} is no condition; expected text of at most {LONGEST} characters")
        if not texts.get("what", "").strip():
            raise InputError("avoids says nothing; expected what=CONDITION, such as what='S[T-1] - S[0] < 1'")
        for name in ("periodic", "repeats"):
            if getattr(made, name).denominator != 1:
                raise InputError(f"{name} is {getattr(made, name)}; expected a whole number of steps")
        return replace(made, **texts)

    @property
    def period(self):
        """After how many steps executions repeat themselves; None if they need not."""
        return int(self.repeats) or None

    def ways_to_fail(self, model, buffer):
        """One: an execution that is so."""
        is_given = self.given.strip() or self.periodic or self.repeats
        premise = (lambda x: self._reason(model, x).premise.condition) if is_given else None
        more = {"bounds": Bounds.STAY, "reads": tuple(self.judges(model))} if self.repeats else {}
        yield WayToFail(self.what, lambda x: no(self._reason(model, x).condition), premise=premise, **more)

    def exclusions(self, model, reads):
        """Larger packets than it asks about by default; and of executions that repeat themselves, some."""
        if self.small_packets in self._given():
            yield Exclusion("packets", "MSS is C·R_m/5 or more")
        if self.repeats:
            yield from exclusions(model, reads)

    def of_small_packets(self, model):
        """The same of packets smaller than C·R_m/5, unless a condition that is given compares `alpha` itself."""
        if not model.windows or any(map(compares_packets, self._given())):
            return self
        return replace(self, given="; ".join((*self._given(), self.small_packets)))

    def _given(self):
        """The conditions that are given."""
        return [text.strip() for text in self.given.split(";") if text.strip()]

    def objectives(self, model, x):
        """That it is not so."""
        return {name: reason.condition for name, reason in self.reasons(model, x).items()}

    def reasons(self, model, x):
        """The same, in words."""
        return {f"avoids {self.what}": self._reason(model, x)}

    def holds(self, objectives):
        """Whether it is true."""
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
        says += [f"it repeats itself every {self.repeats} steps"] if self.repeats else []
        premise = Stated(f"it is given that {' and '.join(says) or 'anything is so'}", every(given))
        where = f", where x = {self.x}" if self.x else ""
        return Implied(premise, Fails(Stated(f"{self.what}{where}", reader.condition(self.what))))


def compares_packets(text):
    """Whether a condition is a comparison of which `alpha` is a side, such as `alpha < 1/4`."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # which is refused where it is read
    sides = [tree.left, *tree.comparators] if isinstance(tree, ast.Compare) else []
    return any(isinstance(side, ast.Name) and side.id == "alpha" for side in sides)


def periodic(model, x, steps):
    """The trace ends as it began: what waits, is in flight, is lost and not found; and the last so many windows and
    rates of each flow are its first ones. State is not compared, as published."""
    end = x.horizon - 1
    ends = [equal(x.admitted(end) - model.tokens(x, end), x.admitted(0) - model.tokens(x, 0))]
    for flow in x.flows:
        ends += [equal(flow.inflight(end), flow.inflight(0)), equal(flow.L[end] - flow.Ld[end], flow.L[0] - flow.Ld[0])]
        for i in range(steps):
            ends += [equal(column[end - i], column[steps - 1 - i]) for column in (flow.cwnd, flow.r)]
    return every(ends)


PROPERTY = Avoids
