"""A trace explained in sentences, with the numbers that decide its property."""

from dataclasses import dataclass
from pathlib import Path

from ccmatic.answers.explanation.flows import accounts
from ccmatic.answers.explanation.reasons import UNITS, leaf_text, number, quantity
from ccmatic.answers.verification import Outcome, Report, replay
from ccmatic.base import BYTES, blamed, counted
from ccmatic.contracts import BEFORE_TIMEOUT, Compared, Stated
from ccmatic.logic import isolated
from ccmatic.networks.traces import Trace, read_trace
from ccmatic.records import ExplanationRecord

#: The largest number of steps that one sentence lists.
NAMED = 6


@dataclass(frozen=True)
class Explanation:
    """An explanation of a trace in sentences.

    Attributes:
        broken: Sentences about the objectives that the trace misses, and about the reasons why no exception applies.
        network: Sentences about the actions of the network.
        sender: Sentences about the controller that chose the rates, and about its choice.
    """

    broken: tuple
    network: tuple
    sender: tuple

    def __str__(self):
        return "\n".join((*self.broken, *self.network, *self.sender))

    def record(self):
        return ExplanationRecord(list(self.broken), list(self.network), list(self.sender))


@isolated
def explain(trace: Trace | str | Path, *, report: Report | None = None, allow_code: bool = False) -> Explanation:
    """Explain a trace in sentences with numbers.

    The sentences state which part of the property is broken, and why no exception applies. The sentences also describe
    the actions of the network, and name the part of the controller's code that chose the rates.

    Args:
        trace: The trace, or its file.
        report: The Report from the trace's replay, as a Judgement has it. By default, the trace is replayed.
        allow_code: As in `replay`.

    Returns:
        The Explanation.

    Raises:
        InputError: If `replay` refuses the trace.
    """
    report, trace = report or replay(trace, allow_code=allow_code), read_trace(trace)
    x = report.query.numbers(trace, report.controller)
    broken = tuple(_broken(report, x)) if report.outcome is Outcome.BREAKS else ()
    network = (*_earlier(trace, report, x), *_network(report.query, x))
    return Explanation(broken, network, tuple(_sender(trace, report, x)))


def legend(query, names):
    """Return the meaning and the unit of each named column."""
    declared, units = query.model.declared(), query.units()
    texts = {name: f"{column.says} ({_unit(column.unit)})" for name, column in declared.items()}
    for name, unit in units.items():
        texts[name] = f"a belief of the sender ({_unit(unit)})"
        texts[name + BEFORE_TIMEOUT] = f"{name} before the timeout"
    texts["r"] += " over (t-1, t]"
    if query.model.windows:
        texts["cwnd"] = f"window, of bytes in flight ({_unit(BYTES)})"
        return {name: texts.get(name.rstrip("0123456789"), "state of the sender") for name in names}
    texts["r"] += "; the beliefs of the previous row determine it"
    return {name: texts.get(name, "a column of the trace") for name in names}


def _unit(unit):
    return UNITS.get(str(unit), str(unit))


@blamed()
def reasons_of(report, x):
    """Return a reason for each objective, without parts if the property's own reason disagrees with the report."""
    given = report.query.property.reasons(report.query.model, x) if report.objectives else {}
    return {
        name: given[name] if name in given and given[name].condition is truth else Stated(name, truth)
        for name, truth in report.objectives.items()
    }


def _broken(report, x):
    reasons = reasons_of(report, x)
    for name in report.unmet:
        words = report.query.property.in_words(name)
        if words != name:
            yield f"'{words}' is not met in this trace."
            continue
        leaves = reasons[name].leaves(False)
        changes = [leaf for leaf in leaves if isinstance(leaf.reason, Compared) and leaf.reason.since is not None]
        kept = ", and ".join(leaf_text(leaf, x.horizon - 1) for leaf in changes)
        others = "; ".join(_worst([leaf for leaf in leaves if leaf not in changes], x.horizon - 1))
        excuse = f" No exception applies: {kept}." if others and kept else ""
        reason = f": {others or kept}" if leaves else ""
        yield f"'{name}' is not met{reason}.{excuse}"


def _worst(leaves, end):
    """Yield leaves of reasons in words. Of one quantity at several steps, a sentence reports the worst step."""
    groups = {}
    for leaf in leaves:
        groups.setdefault(leaf.reason.what, []).append(leaf)
    for group in groups.values():
        if len(group) == 1 or not isinstance(group[0].reason, Compared):
            yield leaf_text(group[0], end)
            continue
        far = max(group, key=lambda leaf: abs(leaf.reason.value - leaf.reason.threshold))
        steps = [str(leaf.reason.step) for leaf in group if leaf is not far]
        yield f"{leaf_text(far, end)}; also at t = {', '.join(steps[:NAMED])}{', …' if len(steps) > NAMED else ''}"


def _earlier(trace, report, x):
    """Yield sentences about values from before the trace, if the query allows executions from any start."""
    if getattr(report.query.property, "start", None) != "any":
        return
    waits, lost = x.inflight(x.history), x.L[x.history]
    shown = [f"{quantity(waits, 'bytes')} waits"] if waits > 0 else []
    shown += [f"{quantity(lost, 'bytes')} is lost"] if lost > 0 else []
    if shown:
        begins = f"At t = {x.history}, {' and '.join(shown)} from before the start"
        yield f"{begins}; `--from start` begins with an empty network."
    delays = [column for name, column in trace.columns.items() if name.rstrip("0123456789") == "Q"]
    late = [(delay, t) for column in delays for t, delay in enumerate(column) if delay > t]
    if late and report.query.model.windows and report.controller and "delay" in report.controller.parameters:
        delay, t = max(late)
        measured = f"a delay of {counted(number(delay), 'step')} is measured"
        yield f"At t = {t}, {measured}, of bytes that waited since before the trace."


def _network(query, x):
    steps = range(1, x.horizon)
    lost = {t: x.L[t] - x.L[t - 1] for t in steps}
    wasted = {t: x.C - (x.K[t] - x.K[t - 1]) for t in steps}
    held = {t: min(x.K[t], x.admitted(t)) - x.S[t] for t in (0, *steps)}
    spare = {t: -x.queue(t) for t in (0, *steps)}
    yield from _amounts("The network lost", lost)
    yield from _amounts("The link carries C·R_m per step; it left unused", wasted)
    if "K" in query.model.declared():
        yield from _amounts("Jitter held back bytes that the link had let through:", held)
        yield from _amounts("The link had spare tokens, which hide later sending above C:", spare)


def _amounts(begin, amounts):
    shown = [(t, amount) for t, amount in amounts.items() if amount > 0]
    if shown:
        listed = ", ".join(f"{quantity(amount, 'bytes')} at t = {t}" for t, amount in shown[:NAMED])
        rest = f" and in {counted(len(shown) - NAMED, 'more step')}" if len(shown) > NAMED else ""
        total = f" ({number(sum(amounts.values()))} in all)" if begin.endswith("lost") else ""
        yield f"{begin} {listed}{rest}{total}."


def _sender(trace, report, x):
    if len(x.flows) > 1:
        yield from (account.sentence() for account in accounts(report.query, report.controller, x))
    if report.controller is None:
        yield "No controller chose the rates: this can happen for any rates."
    elif report.controller.is_envelope:
        yield "At each t, the beliefs of the previous row, t - 1, determine the rates that the envelope allows."
        yield from _within(trace, trace.allowed(report.controller))
    elif report.query.model.windows:
        yield _decided(x)
    else:
        yield "At each t, the beliefs of the previous row, t - 1, determine r."


def _decided(x):
    if not x.history:
        return "From its first decision on, a sender's previous row determines cwnd and r."
    begin = f"Until t = {x.history}, where the question begins, a sender may have sent anything"
    return f"{begin}; from then on, its previous row determines cwnd and r."


def _within(trace, allowed):
    chosen = list(zip(range(1, trace.horizon), trace.columns["r"][1:], allowed, strict=True))
    free = [(t, r, rates) for t, r, rates in chosen if rates and rates.low < rates.high]
    at = {
        "the least allowed": [t for t, r, rates in free if r == rates.low],
        "the most allowed": [t for t, r, rates in free if r == rates.high],
        "between these": [t for t, r, rates in free if rates.low < r < rates.high],
    }
    places = [f"{where} at t = {', '.join(map(str, steps))}" for where, steps in at.items() if steps]
    if places:
        yield f"Within the envelope, r is {'; '.join(places)}."
