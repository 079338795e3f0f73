"""Accounts of flows, in numbers and in sentences: service, observations and actions of each flow of a trace."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ccmatic import controllers
from ccmatic.answers.explanation.reasons import number, quantity
from ccmatic.base import TIME, counted

#: The longest waiting time, in steps, that is computed exactly.
LONGEST_WAIT = 40


@dataclass(frozen=True)
class FlowAccount:
    """The service, observations and actions of one flow, from one step of a trace to the end of the trace.

    Attributes:
        number: The number of the flow, from 1.
        controller: The name of the flow's controller; empty if no controller chose the rates.
        served: The flow's served bytes.
        sent: The flow's sent bytes.
        lost: The flow's lost bytes.
        waits: The waiting time, in steps, of the last byte served at each step, if bytes arrive evenly within a step.
        delays: The delays that the sender observes, in whole steps, for each step with an observed delay; empty if the
            controller reads no delay.
        held: The bytes that the flow's own jitter holds at each step; empty if flows have no separate jitter.
        windows: The flow's window at each step, in bytes.
        packet: MSS in bytes.
        round_trip: R_m in steps.
        timeouts: The steps at which the flow's retransmission timer fires.
    """

    number: int
    controller: str
    served: Fraction
    sent: Fraction
    lost: Fraction
    waits: tuple[Fraction, ...]
    delays: tuple[int, ...]
    held: tuple[Fraction, ...]
    windows: tuple[Fraction, ...]
    packet: Fraction
    round_trip: int
    timeouts: tuple[int, ...]

    @property
    def hold(self) -> Fraction:
        """The longest time, in steps, for which jitter holds bytes of the flow, by the rate of its service."""
        return max(self.held) * len(self.held) / self.served if self.held and self.served else Fraction(0)

    @property
    def name(self) -> str:
        return f"flow {self.number} ({self.controller})" if self.controller else f"flow {self.number}"

    def sentence(self) -> str:
        steps = len(self.windows)
        parts = [f"{self.name} is served {_bytes(self.served)} in {counted(steps, 'step')}"]
        parts += [f"its window is {_range(self.windows, self._window)}"] if self.windows else []
        parts += [f"its bytes wait {_range(self.waits, self.time)}"] if self.waits else []
        parts += [f"it observes a delay of {_range(self.delays, self.time)} in whole steps"] if self.delays else []
        parts += [f"jitter holds {_range(self.held, _bytes)} of its bytes"] if self.held else []
        parts += [f"it loses {_bytes(self.lost)} of {_bytes(self.sent)} sent"] if self.lost else []
        parts += [f"its timer fires at t = {', '.join(map(str, self.timeouts))}"] if self.timeouts else []
        text = "; ".join(parts)
        return f"{text[:1].upper()}{text[1:]}."

    def _window(self, value: Fraction) -> str:
        count = value / self.packet
        return f"{counted(number(count), 'packet')} ({_bytes(value)})"

    def time(self, steps: Fraction | int) -> str:
        return quantity(Fraction(steps, self.round_trip), "time")


def accounts(query: Any, controller: Any, x: Any) -> list[FlowAccount]:
    """Return the FlowAccount of each flow in a numeric execution, for its last period, or from the start on."""
    end = x.horizon - 1
    begin = end - x.period if x.period else x.history
    each = controllers.each_of(controller) if controller else ()
    each = each if len(each) == len(x.flows) else (*each, *([None] * len(x.flows)))[:1] * len(x.flows)
    let: Sequence[Any] = query.model.let(x) or [None] * len(x.flows)
    steps = range(begin + 1, x.horizon)
    return [
        FlowAccount(
            number=flow.number,
            controller=one.name if one else "",
            served=flow.S[end] - flow.S[begin],
            sent=flow.A[end] - flow.A[begin],
            lost=flow.L[end] - flow.L[begin],
            waits=tuple(_waits(flow, steps)),
            delays=tuple(_delays(query.model, one, flow, steps)),
            held=tuple(box[t] - flow.S[t] for t in steps) if box else (),
            windows=tuple(flow.cwnd[t] for t in steps),
            packet=Fraction(x.alpha),
            round_trip=flow.R,
            timeouts=tuple(t for t in steps if query.model.observations["timeout"].read(flow, t) is True),
        )
        for flow, one, box in zip(x.flows, each, let, strict=True)
    ]


def contrast(least: FlowAccount, most: FlowAccount) -> list[str]:
    """Return sentences that explain why the flow with the least service does not catch up."""
    name, other = least.name, most.name
    sentences = []
    if least.lost * most.sent > most.lost * least.sent:
        parts = f"{_percent(least.lost, least.sent)} of its bytes, {other} {_percent(most.lost, most.sent)}"
        sentences.append(f"Losses fall on {name}: it loses {parts}.")
    elif most.lost:
        sentences.append(
            f"{other} loses at least as large a share of its bytes as {name}, and keeps the larger window."
        )
    if least.delays:
        sentences += [_contrast_of_delays(least, most), _WHOLE_STEPS]
    if not sentences:
        sentences.append(f"{name} loses nothing and reads no delay: nothing that it observes makes it send more.")
    return [f"{text[:1].upper()}{text[1:]}" for text in sentences]


_WHOLE_STEPS = (
    "A sender knows its delay in whole steps. Where that leaves a controller more than one decision, the network "
    "chooses."
)


def _contrast_of_delays(least: FlowAccount, most: FlowAccount) -> str:
    name, other = least.name, most.name
    if not most.delays:
        return f"{name} yields to the delay that it observes; {other} reads no delay, and fills the link."
    if sum(least.delays) * len(most.delays) > sum(most.delays) * len(least.delays):
        held = f", as jitter holds its bytes for up to {least.time(least.hold)}" if least.hold > most.hold else ""
        return f"{name} observes more delay than {other}{held}: it keeps a small window, and {other} fills the link."
    if set(least.delays) == set(most.delays):
        return f"Both observe the same delays: neither learns that {other} has the larger share; each keeps its window."
    return f"{name} observes no more delay than {other}, but that does not make it send more than in the period before."


def _delays(model: Any, controller: Any, flow: Any, steps: Sequence[int]) -> Iterator[int]:
    read = (
        [model.observations[name] for name in controller.parameters if name in model.observations] if controller else []
    )
    for measure in [each for each in read if each.unit == TIME and getattr(each, "few", False)][:1]:
        for t in steps:
            yield from (int(delay) for condition, delay in measure.read(flow, t) or () if condition is True)


def _waits(flow: Any, steps: Sequence[int]) -> Iterator[Fraction]:
    """Yield the waiting time of the last byte served at each step, except for steps without service."""
    for t in steps:
        served = flow.S[t]
        if served <= flow.S[t - 1]:
            continue
        for u in range(t - 1, t - LONGEST_WAIT, -1):
            before, after = _admitted(flow, u), _admitted(flow, u + 1)
            if before is None or after is None:
                break
            if before < served <= after:
                yield t - u - (served - before) / (after - before)
                break


def _admitted(flow: Any, t: int) -> Fraction | None:
    """Return the bytes sent and not lost by a step; for a step before a trace without period, None."""
    if t >= 0:
        return Fraction(flow.admitted(t))
    if not flow.period:
        return None
    end = flow.horizon - 1
    grown = flow.admitted(end) - flow.admitted(end - flow.period)
    periods = -(t // flow.period)
    return Fraction(flow.admitted(t + periods * flow.period) - periods * grown)


def _range(values: Sequence[Any], says: Callable[[Any], str]) -> str:
    least, most = min(values), max(values)
    return says(least) if least == most else f"{says(least)} to {says(most)}"


def _bytes(value: Fraction) -> str:
    return quantity(value, "bytes")


def _percent(part: Fraction, whole: Fraction) -> str:
    return f"{float(100 * part / whole) if whole else 0:.3g} %"
