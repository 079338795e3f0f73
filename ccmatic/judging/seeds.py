"""Scenarios from the traces that a solver found for models, as seeds of a search on code."""

from collections.abc import Iterator
from pathlib import Path

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.judging.scenario import MS, SECOND, Scenario
from ccmatic.networks.traces import Trace

#: The paths on which a trace's jitter is tried: bits per second, and R_m in ns.
PATHS = ((12_000_000, 40 * MS), (8_000_000, 60 * MS), (24_000_000, 20 * MS))

#: The time in ns before a trace begins, in which a sender can grow its window, and the length of the rest of the run.
LEADS, REST = (0, 3 * SECOND), 15 * SECOND


def of_trace(path: str | Path) -> Iterator[Scenario]:
    """Yield scenarios with the jitter of a trace. In some, the jitter begins at once, and in others after start-up.

    In each step in which the trace's network serves less than its rate although bytes wait, the jitter box holds
    packets until the end of the step.
    """
    trace = Trace.load(path)
    columns, constants = trace.columns, trace.constants
    if not {"A", "S", "L"} <= columns.keys():
        raise InputError("the trace has no columns A, S and L; expected the trace of one link", str(path))
    sent, served, lost = columns["A"], columns["S"], columns["L"]
    late = [
        step
        for step in range(1, trace.horizon)
        if served[step] - served[step - 1] < constants["C"] and sent[step - 1] - lost[step - 1] > served[step]
    ]
    room = constants.get("beta")
    for rate, rtt in PATHS:
        bdp, step_length = rate * rtt // (8 * SECOND), int(rtt / constants["R_m"])
        size = 4 * bdp if room is None else max(12_000, int(room / (constants["C"] * constants["R_m"]) * bdp))
        for lead in LEADS:
            yield Scenario(
                duration=lead + trace.horizon * step_length + REST,
                rate=rate,
                rtt=rtt,
                buffer=size,
                jitter=max(step_length, int(constants["D"] * step_length)),
                events=tuple(records.HoldEvent(lead + (step - 1) * step_length, step_length) for step in late),
            )
