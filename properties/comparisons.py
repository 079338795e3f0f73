"""The grammar of expectations: text such as `utilisation >= 80% over every 10 rtt`, and its parsed form.

docs/reference/expectations.md lists all expectations.
"""

import operator
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from ccmatic.properties import misread
from ccmatic.properties.named_starts import STARTS, Start
from ccmatic.properties.subjects import CONDITIONS, PARTS, QUANTITIES, TIME, UNITS

from ccmatic.base import InputError, exact, shown

#: The name of the start that executions may reach. As a subject, it means that all conditions of this start hold.
CONVERGED = "converged"

#: The share of the link that a sender uses again once it has recovered, unless the text gives another one.
RECOVERED = Fraction(1, 2)

_NAME = r"[A-Za-z_]\w*"
#: An amount and its unit. A decimal of 30 and 30 digits reads back as a fraction of at most 60 and 31 digits.
_AMOUNT = r"(\d{1,60}/\d{1,60}|\d{1,60}(?:\.\d{1,30})?)\s*([a-z%]*)"
_COMPARISON = re.compile(rf"({_NAME})\s*(<=|>=|<|>)\s*{_AMOUNT}", re.ASCII)
_NONE = re.compile(rf"no\s+({_NAME})", re.ASCII)
_CLAUSES = re.compile(r"\s+(to|over every|within|beside|while)\s+")
_COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


@dataclass(frozen=True)
class Comparison:
    """The comparison `subject relation amount unit`, such as `window <= 4 bdp`.

    Attributes:
        subject: The name of the compared quantity.
        relation: One of < <= > >=.
        amount: The amount in the canonical unit.
        unit: The canonical unit: "", bdp, packets or rtt.
        written: The unit that the user wrote, and the size of this unit in the canonical unit.
    """

    subject: str
    relation: str
    amount: Fraction
    unit: str
    written: tuple[str, Fraction] = field(default=("", Fraction(1)), compare=False)

    @property
    def as_written(self):
        """The comparison in the unit that the user wrote."""
        unit, factor = self.written
        return f"{self.subject} {self.relation} {self.amount / factor}{' ' * unit.isalpha()}{unit}"

    def __str__(self):
        if self.subject == CONVERGED:
            return self.subject
        if self.subject in CONDITIONS:
            return f"no {self.subject}" if self.relation == "<=" else self.subject
        return f"{self.subject} {self.relation} {amount_text(self.amount, self.unit)}"


@dataclass(frozen=True)
class Expectation:
    """A comparison that should hold at every step, or over every interval.

    Attributes:
        comparison: The comparison.
        interval: The length of intervals in R_m; None for the quantity's default intervals.
        conditions: The expectation applies only where all these Comparisons hold.
        beside: The name of the controller beside which the first flow should meet the expectation. Without such a
            controller, each flow should meet the expectation.
        to: The share of the link that a recovery regains.
        within: For a utilisation x, the bytes K in C·R_m by which each interval may fall short of x. Only proofs by
            invariants decide such an expectation. None if intervals may fall short by any amount.
        by: The time in R_m after which, at the latest, `comparison` and `also` hold at the same step for the first
            time. None if the comparison should hold at every step.
        also: The Comparisons that an expectation with `by` states beside its first one.
        by_written: The unit that the user wrote for `by`, and the size of this unit in R_m.
    """

    comparison: Comparison
    interval: Fraction | None = None
    conditions: tuple[Comparison, ...] = ()
    beside: str | None = None
    to: Fraction = RECOVERED
    within: Fraction | None = None
    by: Fraction | None = None
    also: tuple[Comparison, ...] = ()
    by_written: tuple[str, Fraction] = field(default=("rtt", Fraction(1)), compare=False)

    @property
    def comparisons(self):
        """All Comparisons, with those of the conditions."""
        return (self.comparison, *self.also, *self.conditions)

    @property
    def written(self):
        """The unit of the expectation's worst value in the text, and the size of this unit in the canonical unit."""
        return self.comparison.written if self.by is None else self.by_written

    @property
    def depth(self):
        """The bytes that have to wait or to be in flight until a bound breaks, in BDP; 0 if nothing has to fill."""
        comparison = self.comparison
        intervals = comparison.subject in QUANTITIES and QUANTITIES[comparison.subject].intervals
        fills = comparison.relation in ("<", "<=") and comparison.unit in ("bdp", "rtt") and not intervals
        return comparison.amount if fills and self.by is None else Fraction(0)

    @property
    def reached(self):
        """The named Start that executions should reach. It has no conditions if the expectation names none."""
        return STARTS[CONVERGED] if self.comparison.subject == CONVERGED else Start("")

    def met(self, value):
        """Return whether a worst value, as `Reader.worst` computes it, meets the expectation."""
        if self.by is not None:
            return value <= self.by
        return _COMPARE[self.comparison.relation](value, self.comparison.amount)

    def __str__(self):
        if self.by is not None:
            return f"{' and '.join(map(str, self.comparisons))} within {amount_text(self.by, 'rtt')}"
        to = f" to {amount_text(self.to, '')}" if self.comparison.subject == "recovery" else ""
        over = to + (f" over every {amount_text(self.interval, 'rtt')}" if self.interval is not None else "")
        over += f" within {amount_text(self.within, 'bdp')}" if self.within is not None else ""
        beside = f" beside {self.beside}" if self.beside else ""
        conditions = " and ".join(map(str, self.conditions))
        return f"{self.comparison}{over}{beside}{f' while {conditions}' if conditions else ''}"


def amount_text(amount, unit):
    """Return an amount with its unit as text; a share is in percent if possible."""
    if unit:
        return f"{amount} {unit[:-1] if unit == 'packets' and amount == 1 else unit}"
    percent = amount * 100
    return f"{percent}%" if percent.denominator == 1 or amount > 1 else str(amount)


def parse(text: str, units: Mapping = UNITS) -> Expectation:
    """Parse an expectation.

    Args:
        text: Text such as `share >= 20% over every 10 rtt beside cubic while window <= 4 bdp`.
        units: Units in the form of UNITS. A path with known rate and R_m has more units.

    Raises:
        InputError: If the text is no expectation.
    """
    head, *clauses = _CLAUSES.split(text.strip())
    parts = dict(zip(clauses[::2], clauses[1::2], strict=True))
    if len(parts) < len(clauses) // 2:
        twice = next(clause for clause in clauses[::2] if clauses[::2].count(clause) > 1)
        raise InputError(f"'{shown(text)}' says '{twice}' more than once; expected it once")
    by = _time(parts.get("within", ""), units)
    if by is not None and not head.strip().startswith("utilisation"):
        return replace(_reached(head, parts, text, units), by=by[0], by_written=by[1])
    interval = _interval(parts["over every"], units) if "over every" in parts else None
    conditions = parse_conditions(parts["while"], units) if "while" in parts else ()
    comparison = _comparison(head, units)
    to = _recovered(parts["to"], comparison, text) if "to" in parts else RECOVERED
    within = _within(parts["within"], comparison, text, units) if "within" in parts else None
    return Expectation(comparison, interval, conditions, parts.get("beside"), to, within)


def _time(text, units):
    """Return a time in R_m, and its unit with the unit's size in R_m; None if the text is no time."""
    match = re.fullmatch(_AMOUNT, text.strip())
    dimension, factor, _ = units.get(match[2], (None, 0, "")) if match else (None, 0, "")
    return (exact(match[1]) * factor, (match[2], factor)) if dimension == TIME else None


def _reached(head, parts, whole, units):
    """Return the expectation that conditions hold at a step, without the time after which they hold at the latest."""
    if len(parts) > 1:
        other = next(clause for clause in parts if clause != "within")
        problem = f"'{shown(whole)}' says 'within {shown(parts['within'])}' and '{other}'"
        raise InputError(f"{problem}; expected such as '{misread.EXAMPLES[CONVERGED]}'")
    if head.strip() == CONVERGED:
        return Expectation(Comparison(CONVERGED, ">=", Fraction(1), ""))
    if none := _NONE.fullmatch(head.strip()):
        problem = f"'{shown(whole)}' would hold if a single step has no {none[1]}"
        raise InputError(f"{problem}; expected '{none[0]}', which is about all steps")
    first, *also = parse_conditions(head, units)
    return Expectation(first, also=tuple(also))


def _within(text, comparison, whole, units):
    """Return the amount in the clause `within` of a utilisation, in C·R_m."""
    match = re.fullmatch(_AMOUNT, text.strip())
    if not match:
        raise InputError(f"'{shown(whole)}' says 'within {shown(text)}'; expected an amount such as '8 bdp'")
    if (comparison.subject, comparison.relation) != ("utilisation", ">="):
        problem = f"'{shown(whole)}' says 'within {shown(text)}', which only a least utilisation has"
        raise InputError(f"{problem}; expected such as 'utilisation >= 3/4 within 8 bdp'")
    _, factor, canonical = _unit(match[2] or "bdp", units, f"within {text}")
    if canonical != "bdp":
        raise InputError(f"'within {shown(text)}' is no amount of bytes; expected such as 'within 8 bdp'")
    return exact(match[1]) * factor


def _recovered(text, comparison, whole):
    """Return the share of the link in the clause `to` of a recovery."""
    match = re.fullmatch(_AMOUNT, text.strip())
    share = exact(match[1]) * {"%": Fraction(1, 100), "": 1}.get(match[2], 0) if match else 0
    if comparison.subject != "recovery":
        raise InputError(
            f"'{shown(whole)}' says 'to', which only a recovery has; expected such as '{comparison.as_written}'"
        )
    if not 0 < share <= 1:
        raise InputError(
            f"'to {shown(text)}' is no share of the link; expected such as '{misread.EXAMPLES['recovery']}'"
        )
    return share


def parse_conditions(text: str, units: Mapping = UNITS) -> tuple[Comparison, ...]:
    """Parse Comparisons that are joined by `and`, such as `queue <= 1 bdp and window <= 2 bdp`.

    Raises:
        InputError: If a part of the text is no comparison.
    """
    parts = re.split(r"\s+and\s+", text.strip())
    return tuple(
        Comparison(part, ">=", Fraction(1), "") if part in CONDITIONS else _comparison(part, units) for part in parts
    )


def _comparison(text, units):
    text = text.strip()
    if none := _NONE.fullmatch(text):
        return Comparison(none[1], "<=", Fraction(0), "")
    match = _COMPARISON.fullmatch(text)
    if not match:
        raise misread.comparison(text)
    subject, relation, number, unit = match.groups()
    if subject in PARTS and not unit and exact(number) > 1:
        raise misread.part(text, number)
    if subject in ("share", "loss", "marked") and unit.endswith("bit"):
        raise misread.rate(text, subject)
    _, factor, canonical = _unit(unit, units, text)
    return Comparison(subject, relation, exact(number) * factor, canonical, (unit, factor))


def _interval(text, units):
    text = text.strip()
    match = re.fullmatch(_AMOUNT, text)
    dimension, factor, _ = _unit(match[2], units, f"over every {text}") if match else (None, 0, "")
    if dimension != TIME or not exact(match[1]):
        raise misread.interval(text)
    return exact(match[1]) * factor


def _unit(name, units, text):
    if name not in units:
        raise misread.unit(name, text, units)
    return units[name]
