"""Play scenarios: in the packet simulator with exported models, or over the emulator with real flows.

Both worlds leave a log of packets, and the monitor of the emulator judges both. A simulated flow advances in steps of
R_m.
"""

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil
from pathlib import Path
from types import SimpleNamespace

import msgspec
import numpy as np

from benchmarks.lib import application
from benchmarks.lib.scenario_files import TESTED, known_units, rate
from ccmatic import questions
from ccmatic.base import InputError, definitions
from ccmatic.contracts import load_definition
from ccmatic.deployment import emulation
from ccmatic.deployment.emulation import Commands, FlowRequest
from ccmatic.deployment.emulation.monitor import Monitor
from ccmatic.deployment.exporting import header
from ccmatic.networks.simulation import NEVER, PathChange, SharedLink, Simulation, WindowFlow
from ccmatic.networks.simulation import Path as SimulatedPath
from ccmatic.records import ExpectationRecord, Record
from ccmatic.worlds.runtime import StepObservations
from ccmatic.worlds.runtime.library import Library, StatefulSender

#: The simulator's name for each pattern of the emulator. Without jitter, no packet is held.
PATTERNS = {"": "none", "aggregation": "bursts", "uniform": "uniform"}

SECOND = emulation.SECOND


class ScenarioResult(Record, tag_field="format", tag="ccmatic scenario 1", kw_only=True):
    """The result of a scenario in a world.

    Attributes:
        scenario: The scenario's name.
        world: `simulated` or `emulated`.
        sender: The sender under test.
        verdict: `met`, `not met`, `not reached` (a premise is not met), `not applicable`, `not valid` (the machine was
            too busy), or `not played`.
        reason: The reason for the verdict `not valid` or `not played`.
        premises: The verdict on each premise.
        expectations: The verdict on each expectation. An expectation about a state is absent if the state is not
            visible.
    """

    scenario: str
    world: str
    sender: str
    verdict: str
    reason: str = ""
    premises: list[ExpectationRecord] = msgspec.field(default_factory=list)
    expectations: list[ExpectationRecord] = msgspec.field(default_factory=list)


@dataclass(frozen=True)
class Run:
    """A run of a scenario, as the monitor reads it.

    Attributes:
        link: The emulation.Link.
        flows: The names of the flows.
        duration: The length of the run in ns.
        log: The log of packets, of the type emulation.RECORD.
        state: The state of each flow at the ends of steps of R_m, as dicts; empty if it is not visible.
        declared: The columns of the first flow's state, as its controller declares them.
        faults: The reasons why the run is not valid.
    """

    link: emulation.Link
    flows: tuple
    duration: int
    log: np.ndarray
    state: tuple = ()
    declared: tuple = ()
    faults: tuple = ()


def play(name, scenario, world, sender):
    """Play a scenario in a world, and return the ScenarioResult."""
    about = {"scenario": name, "world": world, "sender": sender}
    if scenario.not_played:
        return ScenarioResult(**about, verdict="not played", reason=scenario.not_played)
    try:
        run = {"simulated": simulated, "emulated": emulated}[world](scenario, sender)
    except InputError as error:
        return ScenarioResult(**about, verdict="not played", reason=str(error))
    if run.faults:
        return ScenarioResult(**about, verdict="not valid", reason="; ".join(run.faults))
    premises = [judged(run, scenario, each) for each in scenario.premises]
    visible = [each for each in scenario.expect if each.state_of is None or (run.state and each.state_of == sender)]
    expectations = [judged(run, scenario, each) for each in visible]
    return ScenarioResult(
        **about, verdict=_verdict(premises, expectations), premises=premises, expectations=expectations
    )


def _verdict(premises, expectations):
    if any(each.verdict != "met" for each in premises):
        return "not reached"
    verdicts = {each.verdict for each in expectations}
    return next((each for each in ("not met", "not applicable") if each in verdicts), "met")


def judged(run, scenario, expected):
    """Return the ExpectationRecord of a scenario_files.Expected.

    If the run must break the expectation, the record's text begins with `breaks`.
    """
    record = _judged(run, scenario, expected)
    if not expected.broken:
        return record
    opposite = {"met": "not met", "not met": "met"}.get(record.verdict, record.verdict)
    return msgspec.structs.replace(record, expect=f"breaks {record.expect}", verdict=opposite)


def _judged(run, scenario, expected):
    if expected.state_of is not None:
        return _judged_state(run, scenario, expected)
    end = run.duration
    if expected.until is not None:  # The monitor ignores the last R_m, whose bytes are served later.
        end = min(end, int(expected.until * SECOND) + run.link.rtt)
    part = SimpleNamespace(log=run.log, link=run.link, flows=run.flows, duration=end)
    [record] = Monitor(run.link, [expected.what]).judged(part, expected.since)
    return record


def _judged_state(run, scenario, expected):
    rtt, bdp = Fraction(run.link.rtt, SECOND), run.link.bdp
    first, last = ceil(Fraction(expected.since) / rtt), int(Fraction(expected.until or scenario.seconds) / rtt)
    states = run.state[0][first:last]
    columns = {name: [each[name] for each in states] for name in states[0]}
    none = {"A": (), "S": (), "L": (), "Ld": (), "r": (), "kept": (), "beliefs": {}}
    flow = SimpleNamespace(**none | {"kept": run.declared}, state=columns)
    execution = SimpleNamespace(
        **none, flows=[flow], state=columns, own={}, horizon=len(states),
        period=None, history=0, R=1, C=bdp, D=Fraction(0), alpha=run.link.mtu, beta=run.link.buffer,
    )  # fmt: skip
    path = SimpleNamespace(
        windows=False, pauses=False, threshold=None, beliefs=(), observations={}, offered=lambda x, t: 0, since=None,
        least_horizon=0,
    )  # fmt: skip
    expectation = questions.read(expected.what, known_units(scenario))
    return questions.judge(path, execution, expected.what, expectation, ("s", lambda t: (first + t) * rtt))


def emulated(scenario, sender):
    """Run a scenario over the emulator. May raise InputError."""
    requests = [_request(flow, sender, number) for number, flow in enumerate(scenario.flows)]
    done = emulation.run_flows(scenario.link, requests, scenario.seconds)
    return Run(done.link, done.flows, done.duration, done.log, faults=tuple(done.faults))


def _request(flow, tested, number):
    sender = tested if flow.sender == TESTED else flow.sender
    if not flow.application:
        stop = "" if flow.stop is None else f"-{flow.stop}s"
        return emulation.request(f"{sender}@{flow.start}s{stop}")
    plain = emulation.request(sender)
    if ":" in sender:
        raise InputError(f"the application of flow {number} is limited, and {sender} is no sender of the kernel")
    stop = None if flow.stop is None else int(flow.stop * SECOND)
    return FlowRequest(plain.name, RateLimitedFlow(sender, flow.application), int(flow.start * SECOND), stop)


class RateLimitedFlow:
    """A flow of the kernel whose application offers bytes at given rates.

    Args:
        name: The name of the kernel's congestion control.
        offers: The scenario_files.Offers of the application.
    """

    def __init__(self, name, offers):
        self._name, self._offers = name, offers

    @contextmanager
    def prepare(self, context):
        """Yield the flow's Commands."""
        program = ["chrt", "--rr", application.PRIORITY, sys.executable, Path(application.__file__)]
        rates = [rate(offer.rate) for offer in self._offers]
        texts = ["unlimited" if each is None else float(each) for each in rates]
        offers = [f"{offer.at}={text}" for offer, text in zip(self._offers, texts, strict=True)]
        sender = [*program, "send", context.address, context.port, self._name, *offers]
        yield Commands([*program, "receive", context.port], sender)


def simulated(scenario, sender):
    """Run a scenario in the packet simulator. May raise InputError."""
    link, network = scenario.link, scenario.network
    path, pattern = _path(scenario)
    rates = [Fraction(bits, 8) * network.rtt for _, bits in (link.rates if not network.change else link.rates[:1])]
    simulation = Simulation(path, jitter=pattern, rates=rates, change=_path_change(network.change))
    spans = [(_steps(flow.start, network), None if flow.stop is None else _steps(flow.stop, network))
             for flow in scenario.flows]  # fmt: skip
    built = [StatefulSender(_library(_name(flow, sender)), emulation.MTU, link.rtt) for flow in scenario.flows]
    senders = [_Timed(each, *span) for each, span in zip(built, spans, strict=True)]
    offers = [_Offered(flow, path, network.rtt) if flow.application else None for flow in scenario.flows]
    if len(senders) == 1:
        shared, flows = None, [WindowFlow(simulation, senders[0], offers[0])]
    elif any(offers):
        raise InputError("flows share the link and an application is limited; the simulator plays only one of both")
    else:
        shared = SharedLink(simulation, senders)
        flows = shared.flows
    states = [[] for _ in flows]
    later = zip(link.rates[1:], rates[1:], strict=False)
    changes = {_steps(Fraction(time, SECOND), network): each for (time, _), each in later}
    for step in range(_steps(scenario.seconds, network)):
        if step in changes:
            simulation.change_rate(changes[step])
        if offers[0]:
            offers[0].step = step
        (shared or flows[0]).step()
        for state, each in zip(states, senders, strict=True):
            state.append(each.state())
    names = tuple(_name(flow, sender) for flow in scenario.flows)
    duration = _steps(scenario.seconds, network) * link.rtt
    return Run(link, names, duration, _log(simulation, link, shared), tuple(states), senders[0].declared)


def _path_change(change):
    """Return the simulator's PathChange for a questions.Change, or None."""
    if change is None:
        return None
    factors = {name: most for name, (_, most) in change.factors.items()}
    return PathChange(change.at[0], change.outage, **factors, loses=change.loses)


def _steps(seconds, network):
    """Return the number of steps of R_m up to a time, rounded up."""
    return ceil(Fraction(str(seconds)) / network.rtt)


def _name(flow, tested):
    return tested if flow.sender == TESTED else flow.sender


@cache
def _library(name):
    return Library(header.make(name))


def _path(scenario):
    """Return the simulator's Path, whose unit of time is R_m, and the pattern of the jitter."""
    network = scenario.network
    model = scenario.model or load_definition("models", "MODEL", definitions.chosen("models", "EMULATED"))
    jitter = ceil((network.jitter_seconds or 0) / network.rtt)
    link = scenario.link
    path = SimulatedPath(
        model=model,
        rate=network.bdp,
        packet=emulation.MTU,
        jitter=jitter or (1 if model.default_jitter else 0),
        buffer=None if network.buffer == "infinite" else Fraction(link.buffer),
        threshold=link.threshold,
    )
    return path, PATTERNS[scenario.pattern]


def _log(simulation, link, shared):
    """Return the log of a simulated run in the form that the emulator writes."""
    run = simulation.run()
    lost = run.dropped < NEVER
    log = np.zeros(len(run.sent), emulation.RECORD)

    def instants(ticks):
        return (ticks.astype(object) * link.rtt // run.path.step).astype(np.int64)

    log["arrival"], log["size"], log["lost"] = instants(run.sent), emulation.MTU, lost
    known = run.released < NEVER
    log["released"] = log["admitted"] = -1
    log["admitted"][known] = instants(run.started[known])
    log["released"][known] = instants(run.released[known]) + link.rtt
    if shared:
        log["flow"] = shared.flow_of
    return log


class _Timed:
    """A sender that sends nothing before its start and after its stop, both in steps."""

    def __init__(self, sender, start, stop):
        self._sender, self._start, self._stop = sender, start, stop
        self._now = -1

    @property
    def _is_on(self):
        return self._start <= self._now and (self._stop is None or self._now < self._stop)

    def step(self, seen):
        self._now += 1
        if self._is_on:
            own = StepObservations(**{name: getattr(seen, name) for name, _ in seen._fields_})
            own.time = seen.time - self._start
            self._sender.step(own)

    def window(self):
        return self._sender.window() if self._is_on else 0

    def rate_per_step(self):
        return self._sender.rate_per_step() if self._is_on else 0

    def state(self):
        return self._sender.state()

    @property
    def declared(self):
        return tuple(self._sender.export.controller.state)


class _Offered:
    """The packets that an application offers in each step, as `Simulation.send` requests them."""

    def __init__(self, flow, path, rtt):
        self._offers = [(ceil(Fraction(str(each.at)) / rtt), rate(each.rate)) for each in flow.application]
        self._packet, self._rtt = path.packet, rtt
        self._waiting = Fraction(0)
        self.step = 0

    def __call__(self, count):
        offered = None
        for begin, rate_then in self._offers:
            offered = rate_then if self.step >= begin else offered
        if offered is None:
            self._waiting = Fraction(0)
            return range(1, count + 1)
        self._waiting += offered * self._rtt / self._packet
        packets = min(count, int(self._waiting))
        self._waiting -= packets
        return [ceil(Fraction(i * count, packets)) for i in range(1, packets + 1)]
