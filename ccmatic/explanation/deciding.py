"""The step at which it is decided whether a reason holds, in an execution of numbers."""

from ccmatic.contracts import AllOf, AnyOf, AtMost, Compared, Fails, Implied


def decided(reason, truth, end):
    """Return the step from which on nothing can change whether a reason holds.

    Args:
        reason: A Reason whose terms are numbers.
        truth: Whether it holds.
        end: The last step. It decides every reason that names no step.
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
    """Return the deciding step of a conjunction (`every`) or a disjunction: one part decides it, or all parts do."""
    steps = [decided(part, truth, end) for part in parts if part.condition is truth]
    return (max if every is truth else min)(steps, default=end)
