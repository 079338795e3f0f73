"""One run: flows over an emulated link, and the log of what became of each packet."""

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ccmatic.base import InputError, definitions
from ccmatic.contracts import load_definition
from ccmatic.emulation import beliefs, machine, replay
from ccmatic.emulation.flows import Context
from ccmatic.emulation.link import MS, SECOND, Link
from ccmatic.emulation.turns import Turn
from ccmatic.fitting import least, packet_log

SOURCE = Path(__file__).with_name("emulator.c")

#: Bytes that TCP is let to have waiting in a buffer, however large that is.
MOST_WAITING = 2**26

#: The port of the first flow's receiver, and how long to wait for a first packet.
PORT, PATIENCE = 5001, 15

#: A packet of the log: instants in ns from the arrival of the first packet on, -1 if never; bytes; the flow's number,
#: -1 if of none. admitted: when its last byte leaves the bottleneck. planned, released: when it was to be passed on to
#: the receivers, and when it was.
RECORD = np.dtype(
    [("arrival", "<i8"), ("admitted", "<i8"), ("planned", "<i8"), ("released", "<i8"), ("size", "<i4"),
     ("flow", "<i2"), ("lost", "<i2")]
)  # fmt: skip

#: Lateness in ns: what is tolerated of a valid run, and the time that each packet of a batch may take. A batch is due
#: at one instant, and no line is infinitely fast.
TOLERANCE, PACE = SECOND // 1000, 5000


@dataclass(frozen=True, eq=False)
class Emulation:
    """What happened: a Link, the flows' names, how long it lasted in ns, and the log, in order of arrival.

    real_time: whether the emulator had priority. cpu: its share of a processor. dropped: packets that the machine lost.
    spans: from when until when each flow was to send, in ns. steps: beliefs.Steps of each flow that logs them, None of
    others, and of those that ended before they began. holds: turns.Holds of the flows.
    """

    link: Link
    flows: tuple
    duration: int
    log: np.ndarray
    real_time: bool
    cpu: float
    dropped: int
    spans: tuple
    steps: tuple
    holds: tuple = ()

    @cached_property
    def lateness(self):
        """How late each packet was released that was to be before the end, in ns: after the plan, or PACE after the
        packet before it was due, if that is later."""
        packets = self.log[(self.log["lost"] == 0) & (self.log["planned"] < self.duration)]
        packets = packets[np.argsort(packets["planned"], kind="stable")]
        paces = PACE * np.arange(len(packets))
        due = np.maximum.accumulate(packets["planned"] - paces) + paces if len(packets) else paces
        return np.maximum(0, np.where(packets["released"] < 0, self.duration, packets["released"]) - due)

    @cached_property
    def jitter(self):
        """The least D in ns with which what was passed on is an execution of CBR-delay, None of less than two packets;
        where rates or flows' R_m differ, with which it is one of the link asked for."""
        kept = self.log[self.log["released"] >= 0]
        if len(kept) < 2:
            return None
        if len(self.link.rates) == 1 and not (self.link.rtts or self.link.schedule or self.link.opportunities):
            log = packet_log("the log", kept["arrival"], kept["released"], kept["size"])
            model = load_definition("models", "MODEL", definitions.chosen("models", "EMULATED"))
            [jitter], _ = least(log, model, np.array([0]), np.array([len(kept)]))
            return round(jitter * SECOND)
        propagation = [self.link.propagation(flow) for flow in kept["flow"].tolist()]
        delays = kept["released"] - kept["admitted"] - propagation
        return int(delays.max() - delays.min())

    def alone_until(self, flow):
        """Until when the link was one flow's alone and had one rate, in ns: 0 if it never was."""
        if self.link.schedule or self.link.opportunities:
            return 0
        others = self.log["arrival"][(self.log["flow"] != flow) & (self.log["flow"] >= 0)]
        changes = [time for time, _ in self.link.rates[1:]]
        return int(min([self.spans[flow][1], *changes, *others[:1]]))

    @cached_property
    def false_beliefs(self):
        """Of each flow that logs its steps a list, None of others: (step, belief's name, beliefs.Truth)."""
        kept = self.log[self.log["lost"] == 0]
        return [
            steps and list(steps.false(self.link, kept, self.alone_until(flow)))
            for flow, steps in enumerate(self.steps)
        ]

    @cached_property
    def faults(self):
        """List the reasons why the run is not a run of the requested link; empty if it is one."""
        faults = []
        late = np.percentile(self.lateness, 99) if len(self.lateness) else 0
        if late > TOLERANCE:
            faults.append(f"1 % of the packets are over {late / 1e6:.2f} ms late; {TOLERANCE / 1e6:g} ms are tolerated")
        if self.dropped:
            faults.append(f"{self.dropped} packets were dropped outside the link")
        again = replay.decisions(self.link, self.log["arrival"], self.log["size"], self.log["flow"])
        if again != [tuple(row) for row in self.log[["lost", "admitted", "planned"]].tolist()]:
            faults.append("the log does not replay")
        most = self.link.rtt + (self.link.schedule.jitter if self.link.schedule else self.link.jitter)
        if (self.jitter or 0) > most:
            faults.append(f"the least D is {self.jitter / MS:.2f} ms; R_m + D asked are {most / MS:g} ms")
        faults += [str(hold) for hold in self.holds if hold.too_long]
        return faults + list(self._false_belief_faults())

    def _false_belief_faults(self):
        for name, steps, false in zip(self.flows, self.steps, self.false_beliefs, strict=True):
            if false:
                step, belief, truth = false[0]
                yield (
                    f"{name} believed falsely in {len(false)} of {len(steps)} steps, first at "
                    f"{steps.columns['time'][step] / SECOND:.3f} s (step {step}): {belief} was "
                    f"{steps.columns[belief][step]}, while {truth}"
                )


def emulate(link, flows, seconds):
    """Run flows, each a flows.FlowRequest, over the link for so many seconds from the first packet on; an Emulation.

    One of them has to start at 0. Raises InputError if this machine cannot, or if a flow fails."""
    with started(link, flows, seconds) as running:
        return running.finished()


@contextmanager
def started(link, flows, seconds):
    """As `emulate`, a Running whose flows wait for their turns."""
    machine.require()
    duration = int(seconds * SECOND)
    if any(request.rtt for request in flows):
        link = replace(link, rtts=tuple(request.rtt or link.rtt for request in flows))
    with machine.stopping_cleanly(), ExitStack() as stack:
        senders, receivers, folder = stack.enter_context(machine.workplace(link.mtu, _window(link)))
        log = folder / "log"
        emulator = stack.enter_context(_emulator(link, duration, senders, receivers, folder, log))
        emulator.wait_until_ready()
        turns = []
        for number, request in enumerate(flows):
            context = Context(machine.RECEIVER, PORT + number, number, senders, receivers, folder, seconds, link)
            turns.append(stack.enter_context(Turn(request, number, context)))
        for turn in turns:
            turn.receive()
        yield Running(link, flows, seconds, emulator, turns, log)


@dataclass(frozen=True, eq=False)
class Running:
    """An emulated link that is there. emulator: a machine.Process; turns: of the flows; log: the file that it writes at
    the end."""

    link: Link
    flows: list
    seconds: float
    emulator: machine.Process
    turns: list
    log: Path

    def follow(self):
        """Begin and end flows whose turn it is. Raises InputError if one ended before its turn was over."""
        _, *begun = self.emulator.output
        now = time.monotonic_ns() - int(begun[0]) if begun else 0
        for turn in self.turns:
            turn.follow(now)

    def finished(self):
        """Wait until the end; an Emulation. Raises InputError as `follow`, or if no flow ever sends."""
        end = time.monotonic() + self.seconds + PATIENCE
        while self.emulator.code is None:
            self.follow()
            if time.monotonic() > end:
                raise InputError(f"no packet was sent within {PATIENCE} s")
            time.sleep(0.02)
        if self.emulator.code:
            self.emulator.check()
        for turn in self.turns:
            turn.end()
        return self._emulation()

    def _emulation(self):
        _, origin, (real, cpu, dropped) = map(str.split, self.emulator.output)
        duration = int(self.seconds * SECOND)
        spans = tuple((request.start, duration if request.stop is None else request.stop) for request in self.flows)
        steps = tuple(turn.log and beliefs.read_steps(turn.log, int(*origin)) for turn in self.turns)
        holds = zip(self.turns, steps, spans, strict=True)
        return Emulation(
            link=self.link,
            flows=tuple(request.name for request in self.flows),
            duration=duration,
            log=np.fromfile(self.log, RECORD),
            real_time=real == "1",
            cpu=float(cpu) / self.seconds,
            dropped=int(dropped),
            spans=spans,
            steps=steps,
            holds=tuple(hold for turn, taken, (_, end) in holds for hold in turn.holds(taken, end)),
        )


def _window(link):
    """How many bytes a TCP flow may have in flight."""
    fastest = max(bits for _, bits in link.rates)
    return fastest * (max((link.rtt, *link.rtts)) + link.jitter) // (8 * SECOND) + min(link.buffer, MOST_WAITING)


@contextmanager
def _emulator(link, duration, senders, receivers, folder, log):
    program, configuration = machine.build(SOURCE, folder, *replay.link_options()), folder / "configuration"
    configuration.write_text(link.configuration(duration, PORT))
    with open(configuration) as stdin:
        command = [program, senders, receivers, machine.DEVICE, log]
        with machine.Process("the emulator", command, folder, stdin=stdin) as process:
            yield process
