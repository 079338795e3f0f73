"""The rules for runs of code, and the controllers that have to keep these rules."""

from ccmatic.base import InputError, suggest
from ccmatic.judging.rules import packets, windows
from ccmatic.judging.rules.rule import Evidence, Measured, Rule

__all__ = ["CLEAN", "RULES", "Evidence", "Measured", "Rule", "chosen"]

#: The default rules by name.
RULES = {
    rule.name: rule
    for rule in (
        packets.ALIVE,
        packets.START_UP,
        packets.UTILISATION,
        packets.LOSSES,
        windows.WINDOW,
        windows.MINIMUM,
        packets.FORGETTING,
        windows.TIMEOUT,
        packets.RECOVERY,
        packets.RATE_CHANGE,
        packets.RTT_CHANGE,
        windows.DECREASE_CUBIC,
        windows.DECREASE_RENO,
        windows.IDLE,
        windows.RESTART,
        windows.APP_LIMITED,
        packets.SHARE_ITSELF,
        packets.SHARE_CUBIC,
        windows.MARKS,
        packets.DETERMINISM,
    )
}

#: The clean controllers. If such a controller breaks a rule, the rule is wrong, or the docs state a limit of the
#: controller.
CLEAN = ("reno", "cubic", "quinn:newreno")


def chosen(names: tuple[str, ...] = ()) -> tuple[Rule, ...]:
    """Return the rules with these names, or all rules without names."""
    for name in names:
        if name not in RULES:
            raise InputError(f"there is no rule '{name}'; {suggest(name, RULES)}")
    return tuple(RULES[name] for name in names or RULES)
