"""What a trace shows, in sentences whose numbers are those that its property is decided by."""

from dataclasses import dataclass

from ccmatic.base import BYTES, blamed
from ccmatic.contracts import BEFORE_TIMEOUT, Compared, Stated
from ccmatic.explanation.flows import accounts
from ccmatic.explanation.words import UNITS, number, quantity, told
from ccmatic.records import ExplanationRecord
from ccmatic.verification import Outcome

#: So many steps of a sentence are named.
NAMED = 6


@dataclass(frozen=True)
class Explanation:
    """broken: what of the property is not met, and why nothing excuses it. network: what the network did. sender: whose
    rates these are. Each a tuple of sentences."""

    broken: tuple
    network: tuple
    sender: tuple

    def __str__(self):
        return "\n".join((*self.broken, *self.network, *self.sender))

    def record(self):
        """The records.ExplanationRecord that JSON has of it."""
        return ExplanationRecord(list(self.broken), list(self.network), list(self.sender))


def explain(trace, report) -> Explanation:
    """The Explanation of a trace; report: of its replay (see `verification.replay`)."""
    x = observed(trace, report)
    broken = tuple(_broken(report, x)) if report.outcome is Outcome.BREAKS else ()
    return Explanation(broken, tuple(_network(report.query, x)), tuple(_sender(trace, report, x)))


def observed(trace, report):
    """The trace's numbers, with the beliefs that it states, and what its controller remembers."""
    state = report.controller.state if report.controller else ()
    return report.query.observed(trace, trace.columns.keys() & report.query.units().keys(), state)


def legend(query, names):
    """What each of the columns, by name, holds, with its unit: a dict of texts."""
    declared, units = query.model.declared(), query.units()
    texts = {name: f"{column.says} ({_unit(column.unit)})" for name, column in declared.items()}
    for name, unit in units.items():
        texts[name] = f"what the sender believes ({_unit(unit)})"
        texts[name + BEFORE_TIMEOUT] = f"{name} before the timeout"
    texts["r"] += " over (t-1, t]"
    if query.model.windows:
        texts["cwnd"] = f"window, of bytes in flight ({_unit(BYTES)})"
        return {name: texts.get(name.rstrip("0123456789"), "what the sender remembers") for name in names}
    texts["r"] += "; it follows from the beliefs of the row before"
    return {name: texts.get(name, "a column of the trace") for name in names}


def _unit(unit):
    return UNITS.get(str(unit), str(unit))


@blamed()
def reasons_of(report, x):
    """A reason for each objective, by name: the property's own where it says what was found, else a bare one."""
    given = report.query.property.reasons(report.query.model, x) if report.objectives else {}
    return {
        name: given[name] if name in given and given[name].condition is truth else Stated(name, truth)
        for name, truth in report.objectives.items()
    }


def _broken(report, x):
    reasons = reasons_of(report, x)
    for name in report.unmet:
        leaves = reasons[name].leaves(False)
        changes = [leaf for leaf in leaves if _is_change(leaf.reason)]
        kept = ", and ".join(told(leaf, x.horizon - 1) for leaf in changes)
        others = "; ".join(_worst([leaf for leaf in leaves if leaf not in changes], x.horizon - 1))
        excuse = f" Nothing excuses it: {kept}." if others and kept else ""
        reason = f": {others or kept}" if leaves else ""
        yield f"'{name}' is not met{reason}.{excuse}"


def _worst(leaves, end):
    """What leaves say, of those that compare one thing at several steps only the one that is farthest off."""
    groups = {}
    for leaf in leaves:
        groups.setdefault(leaf.reason.what, []).append(leaf)
    for group in groups.values():
        if len(group) == 1:
            yield told(group[0], end)
            continue
        far = max(group, key=lambda leaf: abs(leaf.reason.value - leaf.reason.threshold))
        steps = [str(leaf.reason.step) for leaf in group if leaf is not far]
        yield f"{told(far, end)}; likewise at t = {', '.join(steps[:NAMED])}{', …' if len(steps) > NAMED else ''}"


def _is_change(reason):
    return isinstance(reason, Compared) and reason.since is not None


def _network(query, x):
    """What is the network's own doing: tokens, waste, delay, loss, with steps and amounts."""
    steps = range(1, x.horizon)
    lost = {t: x.L[t] - x.L[t - 1] for t in steps}
    wasted = {t: x.C - (x.K[t] - x.K[t - 1]) for t in steps}
    held = {t: min(x.K[t], x.admitted(t)) - x.S[t] for t in (0, *steps)}
    spare = {t: -x.queue(t) for t in (0, *steps)}
    yield from _amounts("The network lost", lost)
    yield from _amounts("Of the link's C·R_m a step were left unused", wasted)
    if "K" in query.model.declared():
        yield from _amounts("Jitter held back what had been let through,", held)
        yield from _amounts("Tokens lay ready, which hide what is sent beyond C later,", spare)


def _amounts(begin, amounts):
    shown = [(t, amount) for t, amount in amounts.items() if amount > 0]
    if shown:
        listed = ", ".join(f"{quantity(amount, 'bytes')} at t = {t}" for t, amount in shown[:NAMED])
        rest = f" and in {len(shown) - NAMED} more steps" if len(shown) > NAMED else ""
        total = f" ({number(sum(amounts.values()))} in all)" if begin.endswith("lost") else ""
        yield f"{begin} {listed}{rest}{total}."


def _sender(trace, report, x):
    if report.controller is None:
        yield "The rates are nobody's: this can happen whatever is sent."
    elif report.controller.is_envelope:
        yield "At each t, the envelope allows what follows from the beliefs of the row before, t - 1."
        yield from _within(trace, trace.allowed(report.controller))
    elif report.query.model.windows:
        yield "At each t, cwnd and r follow from what the sender remembers, and that from the row before."
    else:
        yield "At each t, r follows from the beliefs of the row before, t - 1."
    if len(x.flows) > 1:
        yield from (account.sentence() for account in accounts(report.query, report.controller, x))


def _within(trace, allowed):
    """Where in the envelope the rates were."""
    chosen = list(zip(range(1, trace.horizon), trace.columns["r"][1:], allowed, strict=True))
    free = [(t, r, rates) for t, r, rates in chosen if rates and rates.low < rates.high]
    at = {
        "the least allowed": [t for t, r, rates in free if r == rates.low],
        "the most allowed": [t for t, r, rates in free if r == rates.high],
        "between these": [t for t, r, rates in free if rates.low < r < rates.high],
    }
    places = [f"{where} at t = {', '.join(map(str, steps))}" for where, steps in at.items() if steps]
    if places:
        yield f"Of the rates that it allows, r is {'; '.join(places)}."
