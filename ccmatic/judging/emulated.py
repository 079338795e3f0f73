"""Scenarios in real time over an emulated link.

The emulated link obeys the same laws as the path in virtual time, but the machine may be late. So only valid runs
count.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from ccmatic import records
from ccmatic.base import InputError, definitions
from ccmatic.contracts import load_definition
from ccmatic.deployment import emulation
from ccmatic.judging.laws import Curve
from ccmatic.judging.recording import PACKET, REPLY, SAMPLE, Recording
from ccmatic.judging.scenario import SECOND, Scenario
from ccmatic.judging.words import event_words
from ccmatic.networks.trace_export import Holds

#: The number of runs after which an invalid run is an error.
TRIES = 3

#: The events that an emulated link shows.
_SHOWN = (records.HoldEvent, records.RateEvent, records.RttEvent, records.OutageEvent, records.BufferEvent)


def record(plan: Scenario, subject: Any) -> Recording:
    """Run a scenario in real time, again if a run is invalid."""
    link, flows = _link(plan), list(_flows(plan, subject))
    faults: list[str] = []
    for _ in range(TRIES):
        run = emulation.run_flows(link, flows, plan.duration / SECOND)
        if not run.faults:
            packets = np.zeros(len(run.log), PACKET)
            for name in PACKET.names or ():
                packets[name] = run.log[name]
            nothing = np.zeros(0, REPLY), np.zeros(0, SAMPLE)
            return RealTime(plan, packets, *nothing, None, subject.name, subject.program.version)
        faults = run.faults
    raise InputError(f"{subject.name}: {TRIES} runs are invalid, the last one because {faults[0]}")


class RealTime(Recording):
    """A recording of a valid run in real time. The sender's window is unknown, and no replies are recorded."""

    real_time = True

    def faults(self) -> Iterator[str]:
        """Yield nothing: the emulation has checked the run, and tolerates the lateness of the machine."""
        yield from ()


def _refuse(what: str, expected: str) -> InputError:
    return InputError(f"an emulated link cannot show {what}; expected {expected}")


def _link(s: Scenario) -> emulation.Link:
    for event in s.events:
        if not isinstance(event, _SHOWN):
            raise _refuse(f"'{event_words(event)}'", "holds, and changes of rate, R_m and buffer")
    grown = [event for event in s.events if isinstance(event, records.RttEvent)]
    buffers = [event for event in s.events if isinstance(event, records.BufferEvent)]
    curve = Curve(s)
    times = [0, *curve.changes()]
    if len(grown) > 1 or len(buffers) > 1 or (buffers and buffers[0].at < times[-1]):
        raise _refuse("these changes", "one change of R_m, and one of the buffer after all changes of the rate")
    if grown and grown[0].rtt < s.rtt:
        raise _refuse(f"'{event_words(grown[0])}'", "that R_m grows")
    if s.packet != emulation.MTU:
        raise _refuse(f"packets of {s.packet} bytes", f"packets of {emulation.MTU} bytes")
    change = None
    if grown or buffers:
        extra = grown[0].rtt - s.rtt if grown else 0
        buffer = buffers[0].bytes if buffers else s.buffer
        change = emulation.LinkChange(grown[0].at if grown else times[-1], extra, buffer, False)
    holds = _holds(s)
    return emulation.Link(
        rates=tuple((time, curve.rate(time)) for time in times),
        rtt=s.rtt,
        buffer=s.buffer,
        jitter=s.jitter if holds else 0,
        pattern=emulation.OWN if holds else "none",
        seed=s.seed,
        rtts=tuple(flow.rtt or s.rtt for flow in s.flows),
        holds=holds,
        model=_model(s),
        change=change,
        threshold=s.threshold,
    )


def _holds(s: Scenario) -> Holds | None:
    """Return a box that holds the packets of each flow as the scenario says, and repeats after the run."""
    events = [event for event in s.events if isinstance(event, records.HoldEvent)]
    if not events:
        return None
    points = [(0, 0)]
    for event in events:
        end = event.at + event.length
        points += [(max(0, event.at - 1), max(0, event.at - 1)), (event.at, end), (end, end)]
    period = max(s.duration, points[-1][0]) + SECOND
    box = tuple(dict.fromkeys([*points, (period, period)]))
    return Holds(
        Fraction(s.rate, 8), s.rtt, s.jitter, s.packet, s.buffer, period, (box,) * len(s.flows), ({},) * len(s.flows)
    )


def _model(s: Scenario) -> Any:
    """Return the model of a link that loses by chance or polices; None for a drop-tail link."""
    if s.policer and (s.loss or Curve(s).changes()):
        raise _refuse("a policer with losses by chance or changes", "one of them")
    if s.policer:
        bucket, share = Fraction(s.policer.bucket * 8 * SECOND, s.rate * s.rtt), Fraction(s.policer.bits, s.rate)
        name = f"{definitions.chosen('models', 'POLICED')}:bucket={bucket},tokens={share}"
    elif s.loss and s.loss.share:
        name = f"{definitions.chosen('models', 'LOSSY')}:loss_rate={s.loss.share},loss_burst={s.loss.burst}"
    else:
        return None
    return load_definition("models", "MODEL", name)


def _flows(s: Scenario, subject: Any) -> Iterator[emulation.FlowRequest]:
    """Yield the requests of the flows: of the kernel, or of a controller of ccmatic over UDP."""
    for flow in s.flows:
        stack, _, name = (flow.beside or f"{subject.adaptor.stack}:{subject.controller}").rpartition(":")
        text = name if stack == subject.adaptor.stack else f"udp:{name}"
        yield emulation.FlowRequest(text, emulation.request(text).flow, flow.start, flow.stop, flow.rtt)
