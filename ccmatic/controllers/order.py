"""A check before any verdict on an envelope: the envelope's smallest rate is never above its largest rate."""

from fractions import Fraction

from ccmatic.base import CONSTANTS, InputError
from ccmatic.controllers.controller import Controller
from ccmatic.logic import isolated, real


def require_order(controller, jitter):
    """Raise InputError, with example values, if low > high is possible in some `between(low, high)`.

    The check considers all inputs of at least 0, and an MSS above 0. A controller that is no envelope always passes.
    """
    if isinstance(controller, Controller) and controller.is_envelope:
        _require(controller, jitter)


@isolated
def _require(controller, jitter):
    from ccmatic.logic.solving import SAT, Checker  # imported here: slow to import, and not needed to read controllers

    unknowns = {name: real(name) for name in controller.parameters if name not in ("R_m", "D")}
    values = {**unknowns, "R_m": Fraction(1), "D": Fraction(jitter)}
    checker = Checker()
    for name, unknown in unknowns.items():
        checker.add(unknown > 0 if name in CONSTANTS else unknown >= 0)
    for above, line in controller.unordered(values):
        checker.push()
        checker.add(above)
        if checker.check() == SAT:
            point = ", ".join(f"{name} = {checker.value(unknown)}" for name, unknown in unknowns.items())
            message = f"low is above high at {point or 'any values'}; expected `between(low, high)` with low <= high"
            raise InputError(f"{message}, such as between(low, max(low, high))", controller.file, line)
        checker.pop()
