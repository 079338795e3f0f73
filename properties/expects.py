"""Property: every execution from a given start meets the user's expectations, such as `utilisation >= 80%`."""

from dataclasses import dataclass, field, replace
from fractions import Fraction

from ccmatic.properties import misread
from ccmatic.properties.avoids import SMALL_PACKETS, compares_packets, counted_before
from ccmatic.properties.expectations import QUANTITIES, UNITS, Reader, parse, parse_conditions
from ccmatic.properties.expressions import LONGEST, Expressions
from ccmatic.properties.named_starts import STARTS, Start
from ccmatic.properties.repeating import exclusions, repeating

from ccmatic.base import InputError, counted, shown
from ccmatic.contracts import Bounds, Exclusion, Implied, Property, Stated, WayToFail
from ccmatic.logic import every, no

_TEXT = {"metadata": {"text": True}}


@dataclass(frozen=True)
class Expects(Property):
    """Every execution from a given start meets the user's expectations.

    Attributes:
        what: Expectations, separated by `;`.
        start: A name in STARTS, or conditions at the first step, joined by `and`.
        paced: The numbers, from 1, of the flows of window senders that send at a rate alone, for a named start.
        given: Further conditions on executions, in the language of `avoids`, separated by `;`.
        repeats: If positive, the property concerns only executions that repeat after this many steps and so may go on
            for ever. If 0, the property concerns all executions.
    """

    name = "expects"
    pauses = True
    parse = staticmethod(parse)
    starts = STARTS
    units = UNITS

    what: str = field(default="", **_TEXT)
    start: str = field(default="any", **_TEXT)
    given: str = field(default="", **_TEXT)
    paced: str = field(default="", **_TEXT)
    repeats: Fraction = Fraction(0)

    @classmethod
    def from_parameters(cls, given, allow_code=False):
        """Return the property that a record describes."""
        texts = {name: value for name, value in given.items() if name in ("what", "start", "given", "paced")}
        numbers = {name: value for name, value in given.items() if name not in texts}
        made = super().from_parameters(numbers, allow_code)
        if not all(isinstance(text, str) and len(text) <= LONGEST for text in texts.values()):
            raise InputError(f"{shown(texts)} is no expectation; expected text of at most {LONGEST} characters")
        if made.repeats.denominator != 1:
            raise InputError(f"repeats is {made.repeats}; expected a whole number of steps")
        made = replace(made, **texts)
        if not all(each.isdecimal() for each in made.paced.split()):
            raise InputError(f"paced is '{shown(made.paced)}'; expected numbers of flows, such as '1 2'")
        if not made.expectations:
            raise InputError("nothing is expected; expected such as what='utilisation >= 80%'")
        if made.start not in STARTS:
            made._start_conditions()
        return made

    def parameters(self):
        """Return the values of the thresholds by name, as text. Without paced flows, `paced` is left out."""
        values = super().parameters()
        return values if self.paced else {name: value for name, value in values.items() if name != "paced"}

    @property
    def expectations(self):
        """The expectations, parsed from `what`."""
        return [parse(text) for text in self.what.split(";") if text.strip()]

    @staticmethod
    def at_first(start, units=UNITS):
        """Return the Comparisons of a start. A named start has no Comparisons.

        Raises:
            InputError: If the text contains no comparisons.
        """
        return () if start in STARTS else _conditions(start, units)

    def edge(self, query, state):
        """Return the Quantity for searching the expectation's worst case, and the conditions of the start.

        Args:
            query: The Query.
            state: The state of the query's controller.

        Raises:
            InputError: If the expectation has no amount.
        """
        (expectation,), model = self.expectations, query.model
        reader = Reader(model, query.execution(state=state), self.period)
        start = STARTS.get(self.start)
        given = reader.given(self._start_conditions()) if start is None else start.texts(model, self._paced)
        applies = [reader.applies(expectation)] if expectation.conditions else []
        return reader.edge(expectation), [*given, *self._given(), *applies]

    def least_horizon(self, query, state, expectation, at_first):
        """Return the smallest horizon that shows an expectation on a query's network.

        Args:
            query: The Query.
            state: The state of the query's controller.
            expectation: The Expectation, in the units of the text.
            at_first: The Comparisons of the start, also in the units of the text.

        Raises:
            InputError: If a quantity does not support amounts in its unit.
        """
        reader = Reader(query.model, query.execution(state=state), self.period)
        for comparison in (*expectation.conditions, *at_first):
            reader.require(comparison)
        return reader.needed(expectation)

    @staticmethod
    def counts_per_round(expectation):
        """Return whether an expectation counts bytes in each R_m, because its text names no other interval."""
        quantity = QUANTITIES.get(expectation.comparison.subject)
        by_default = quantity is not None and quantity.intervals and expectation.interval is None
        return by_default and bool(expectation.comparison.unit)

    @property
    def period(self):
        """The period of the executions in steps; None if they need not repeat."""
        return int(self.repeats) or None

    @property
    def begins(self):
        """The Start of the executions."""
        return STARTS.get(self.start) or Start(f"from {self.start}")

    def measured(self, model, x, expectation, clock=None):
        """Return the worst value of an expectation in an execution of numbers, in words."""
        return Reader(model, x, self.period).measured(expectation, clock)

    @staticmethod
    def worst(model, x, expectation, clock=None):
        """Return the WorstValue of an expectation in an execution of numbers, and its text; (None, "") without one.

        `Reader.measured` explains the argument `clock`.
        """
        reader = Reader(model, x)
        worst = reader.worst(expectation)
        return worst, "" if worst is None else reader.says(expectation, worst, clock)

    def ways_to_fail(self, model, buffer):
        """Yield one way to fail per expectation: an execution from the start that does not meet the expectation."""
        more = {"bounds": Bounds.STAY} if self.repeats else {}
        for expectation in self.expectations:

            def formula(x, expectation=expectation):
                return no(Reader(model, x, self.period).reason(expectation).condition)

            def premises(x, expectation=expectation):
                return self._premises(model, x, expectation)

            def premise(x, premises=premises):
                return every(list(premises(x).values()))

            def fails(x, formula=formula, premise=premise):
                return every(premise(x), formula(x))

            reads = tuple(self.judges(model)) if self.repeats else self._beliefs(model, expectation)
            yield WayToFail(str(expectation), fails, reads=reads, premise=premise, premises=premises, **more)

    def judges(self, model):
        """Return the beliefs that are necessary to judge a trace."""
        if self.repeats:
            return super().judges(model)
        return {name for expectation in self.expectations for name in self._beliefs(model, expectation)}

    def objectives(self, model, x):
        """Return the condition of each expectation, by the expectation's text.

        A false premise makes all conditions true.
        """
        return {name: reason.condition for name, reason in self.reasons(model, x).items()}

    def reasons(self, model, x):
        """Return the conditions of `objectives`, each with the numbers that decide it."""
        reader, premise = Reader(model, x, self.period), every(list(self._premises(model, x).values()))
        reasons = {str(each): reader.reason(each) for each in self.expectations}
        if premise is True:
            return reasons
        start = Stated(self._says(), premise)
        return {text: Implied(start, reason) for text, reason in reasons.items()}

    def holds(self, objectives):
        """Return whether all expectations are met."""
        return all(objectives.values())

    def exclusions(self, model, reads):
        """Yield the exclusions of repeating executions, and the exclusion of larger packets if the property has it."""
        if SMALL_PACKETS in self._given():
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
        return replace(self, given="; ".join((*self._given(), SMALL_PACKETS)))

    def _given(self):
        return [text.strip() for text in self.given.split(";") if text.strip()]

    @property
    def _paced(self):
        return [int(number) for number in self.paced.split()]

    def _says(self):
        repeated = [f"repeated every {counted(self.repeats, 'step')}"] if self.repeats else []
        return "; ".join([self.begins.says, *self._given(), *repeated])

    def _start_conditions(self):
        return _conditions(self.start, UNITS)

    def _beliefs(self, model, expectation):
        """Return the model's beliefs that an expectation, or the start, mentions."""
        own = self._start_conditions() if self.start not in STARTS else ()
        named = {each.subject for each in (*expectation.comparisons, *own)}
        named |= {*self.begins.beliefs, *expectation.reached.beliefs}
        return tuple(belief.name for belief in model.beliefs if belief.name in named)

    def _premises(self, model, x, expectation=None):
        """Return the conditions that an execution must satisfy, by their names in messages.

        If `expectation` is given, the result also includes the expectation's own conditions.
        """
        expressions, reader = Expressions(x, model, Fraction(0)), Reader(model, x)
        start = f"the start '{self.start}'"
        if self.start in STARTS:
            texts = STARTS[self.start].texts(model, self._paced)
            parts = {start: every([expressions.condition(text) for text in texts])} if texts else {}
        else:
            parts = {start: reader.at_first(self._start_conditions())}
        parts |= {f"the condition '{text}'": expressions.condition(text) for text in self._given()}
        if self.repeats:
            parts[f"the period of {counted(self.repeats, 'step')}"] = repeating(model, x, self.period)
        if expectation is not None and expectation.conditions:
            conditions = " and ".join(map(str, expectation.conditions))
            parts[f"the condition 'while {conditions}'"] = reader.premise(expectation)
        return parts


def _conditions(start, units):
    """Return the Comparisons of a start that conditions describe instead of a name."""
    if not any(relation in start for relation in "<>="):
        raise misread.start(start, STARTS)
    return parse_conditions(start, units)


PROPERTY = Expects
