"""The rules for runs of code, and the controllers that have to keep these rules."""

from ccmatic.base import InputError, suggest
from ccmatic.judging.rules import (
    alive,
    changes,
    decrease,
    determinism,
    forgetting,
    idle,
    limited,
    losses,
    marks,
    minimum,
    recovery,
    shares,
    startup,
    timeouts,
    utilisation,
    window,
)
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, Run

__all__ = ["CLEAN", "RULES", "Evidence", "Measured", "Rule", "Run", "chosen"]

#: The default rules by name.
RULES = {
    rule.name: rule
    for rule in (
        alive.RULE,
        startup.RULE,
        utilisation.RULE,
        losses.RULE,
        window.RULE,
        minimum.RULE,
        forgetting.RULE,
        timeouts.RULE,
        recovery.RULE,
        changes.RATE,
        changes.RTT,
        decrease.CUBIC,
        decrease.RENO,
        idle.GROWN,
        idle.BURSTS,
        limited.RULE,
        shares.ITSELF,
        shares.CUBIC,
        marks.RULE,
        determinism.RULE,
    )
}

#: The clean controllers. If such a controller breaks a rule, the rule is wrong, or the docs state a limit of the
#: controller.
CLEAN = ("reno", "cubic", "quinn:newreno")


def chosen(names: tuple[str, ...] = ()) -> tuple[Rule, ...]:
    """Return the rules with these names, or all rules without names.

    Raises:
        InputError: If a name is unknown.
    """
    for name in names:
        if name not in RULES:
            raise InputError(f"there is no rule '{name}'; {suggest(name, RULES)}")
    return tuple(RULES[name] for name in names or RULES)
