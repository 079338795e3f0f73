"""The step at which an execution of numbers decides whether a reason holds.

A reason is a condition with an explanation.
"""

from ccmatic.contracts import AllOf, AnyOf, AtMost, Compared, Fails, Implied


def decided(reason, truth, end):
    """Return the step at which it becomes certain whether a reason holds. Later steps cannot change this.

    Args:
        reason: A Reason whose terms are numbers.
        truth: Whether the reason holds.
        end: The last step of the execution. This step decides every reason that names no step.
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
    """Return the step that decides a conjunction (`every`) or a disjunction.

    Either one part decides the result, or all parts together do.
    """
    steps = [decided(part, truth, end) for part in parts if part.condition is truth]
    return (max if every is truth else min)(steps, default=end)
