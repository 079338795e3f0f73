"""Numbers and reasons as words, and the step at which an execution decides whether a reason holds."""

from decimal import Context

from ccmatic.contracts import AllOf, AnyOf, AtMost, Compared, Fails, Implied, Stated

#: The words that express a true comparison, and those that express a false one.
_TRUE = {"<": "less than", "<=": "at most", ">": "more than", ">=": "at least"}
_FALSE = {"<": "not less than", "<=": "more than", ">": "not more than", ">=": "less than"}

#: The unit in which traces count the quantities of each dimension.
UNITS = {"rate": "C", "bytes": "C·R_m", "time": "R_m"}


def number(value):
    """Return an exact number as short text: a short decimal, else a small fraction, else ≈ and a rounded decimal."""
    if value.denominator == 1:
        return str(value.numerator)
    if (value * 10_000).denominator == 1:
        whole, part = divmod(abs(value.numerator) * 10_000 // value.denominator, 10_000)
        return f"{'-' if value < 0 else ''}{whole}.{part:04d}".rstrip("0")
    if value.denominator <= 100:
        return str(value)
    return f"≈ {Context(prec=4).divide(value.numerator, value.denominator):g}"


def quantity(value, unit):
    return f"{number(value)} {UNITS.get(unit, unit)}".rstrip()


def leaf_text(leaf, end):
    """Return a true or false leaf of an execution's reasons in words. `end` is the last step."""
    reason = leaf.reason
    match reason:
        case Compared(since=None):
            at = f" at t = {reason.step}" if reason.step is not None else ""
            of = f" ({reason.of})" if reason.of else ""
            words = (_TRUE if leaf.truth else _FALSE)[reason.relation]
            return f"{reason.what}{at}: {quantity(reason.value, reason.unit)}, {words} {number(reason.threshold)}{of}"
        case Compared():
            if reason.value == reason.threshold:
                return f"{reason.what} is {quantity(reason.value, reason.unit)} at t = {reason.since} and at t = {end}"
            first, last = number(reason.threshold), quantity(reason.value, reason.unit)
            return f"{reason.what} goes from {first} at t = {reason.since} to {last} at t = {end}"
        case AtMost():
            steps = ", ".join(str(part.step) for part in reason.held)
            words = "at most" if leaf.truth else "more than"
            at = f" (t = {steps})" if steps else ""
            return f"{len(reason.held)} {reason.what}{at}, {words} {int(reason.most)}"
        case Stated():
            about = "" if reason.value is None else f": it is {number(reason.value)}"
            return f"{'' if leaf.truth else 'false: '}{reason.what}{about}"
    raise TypeError(f"no leaf: {reason!r}")


def decided(reason, truth, end):
    """Return the step from which on it is certain whether a reason holds, in an execution of numbers.

    The last step, `end`, decides every reason that names no step.
    """
    match reason:
        case Compared(step=int(step)):
            return step
        case AtMost():
            held = sorted(decided(part, True, end) for part in reason.held)
            return end if truth else held[int(reason.most)]
        case Fails():
            return decided(reason.part, not truth, end)
        case AllOf() | AnyOf():
            return _joined(reason.parts, isinstance(reason, AllOf), truth, end)
        case Implied():
            return _joined((Fails(reason.premise), reason.conclusion), False, truth, end)
    return end


def _joined(parts, every, truth, end):
    """Return the step that decides a conjunction (`every`) or a disjunction: one part does, or all parts together."""
    steps = [decided(part, truth, end) for part in parts if part.condition is truth]
    return (max if every is truth else min)(steps, default=end)
