"""One run: flows over an emulated link, and the log of every packet's fate."""

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

#: The most bytes that TCP may have waiting in a buffer, however large the buffer is.
MOST_WAITING = 2**26

#: The port of the first flow's receiver, and how many seconds to wait for a first packet.
PORT, PATIENCE = 5001, 15

#: A packet of the log. Instants are in ns from the arrival of the first packet, -1 if never. size: its bytes. flow: the
#: flow's number, -1 if it has no flow. admitted: when its last byte leaves the bottleneck. planned, released: when it
#: was to be passed on to the receivers, and when it was.
RECORD = np.dtype(
    [("arrival", "<i8"), ("admitted", "<i8"), ("planned", "<i8"), ("released", "<i8"), ("size", "<i4"),
     ("flow", "<i2"), ("lost", "<i2")]
)  # fmt: skip

#: Lateness in ns: the tolerance of a valid run, and the time that each packet of a batch may take. A batch is due at
#: one instant, and no line is infinitely fast.
TOLERANCE, PACE = SECOND // 1000, 5000


@dataclass(frozen=True, eq=False)
class Emulation:
    """The outcome of a run.

    Attributes:
        link: The Link.
        flows: The names of the flows.
        duration: The length of the run in ns.
        log: A RECORD per packet, in order of arrival.
        real_time: Whether the emulator had real-time priority.
        cpu: The emulator's share of a processor.
        dropped: The packets that the machine lost.
        spans: When each flow was to start and to stop sending, in ns.
        steps: For each flow, its beliefs.Steps; None if it logs none or ended before its first step.
        holds: The turns.Holds of the flows.
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
        """The lateness of the release, in ns, of each packet that was due before the end.

        A packet is due at its plan, or PACE after the packet before it was due, if that is later.
        """
        packets = self.log[(self.log["lost"] == 0) & (self.log["planned"] < self.duration)]
        packets = packets[np.argsort(packets["planned"], kind="stable")]
        paces = PACE * np.arange(len(packets))
        due = np.maximum.accumulate(packets["planned"] - paces) + paces if len(packets) else paces
        return np.maximum(0, np.where(packets["released"] < 0, self.duration, packets["released"]) - due)

    @cached_property
    def jitter(self):
        """The smallest D in ns that explains the released packets as an execution of CBR-delay.

        If rates or the flows' R_m differ, or the link has a model, the smallest D of an execution of the requested
        link. None for less than two packets.
        """
        kept = self.log[self.log["released"] >= 0]
        if len(kept) < 2:
            return None
        other = self.link.rtts or self.link.schedule or self.link.opportunities or self.link.model
        if len(self.link.rates) == 1 and not other:
            log = packet_log("the log", kept["arrival"], kept["released"], kept["size"])
            model = load_definition("models", "MODEL", definitions.chosen("models", "EMULATED"))
            [jitter], _ = least(log, model, np.array([0]), np.array([len(kept)]))
            return round(jitter * SECOND)
        propagation = [self.link.propagation(flow) for flow in kept["flow"].tolist()]
        delays = kept["released"] - kept["admitted"] - propagation
        return int(delays.max() - delays.min())

    def alone_until(self, flow):
        """Return the end, in ns, of the time in which a flow was alone on a link of one rate; 0 if it never was."""
        if self.link.schedule or self.link.opportunities or self.link.model:
            return 0
        others = self.log["arrival"][(self.log["flow"] != flow) & (self.log["flow"] >= 0)]
        changes = [time for time, _ in self.link.rates[1:]]
        return int(min([self.spans[flow][1], *changes, *others[:1]]))

    @cached_property
    def false_beliefs(self):
        """For each flow, a list of (step, belief's name, beliefs.Truth); None if the flow logs no steps."""
        kept = self.log[self.log["lost"] == 0]
        return [
            steps and list(steps.false(self.link, kept, self.alone_until(flow)))
            for flow, steps in enumerate(self.steps)
        ]

    @cached_property
    def faults(self):
        """The reasons why the run is not a run of the requested link; empty if it is one."""
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
    """Run flows over a link.

    Args:
        link: The Link.
        flows: The flows.FlowRequests. One of them starts at 0.
        seconds: The length of the run from the first packet on.

    Returns:
        The Emulation.

    Raises:
        InputError: This machine cannot emulate, or a flow fails.
    """
    with started(link, flows, seconds) as running:
        return running.finished()


@contextmanager
def started(link, flows, seconds):
    """Begin a run as `emulate` does, and yield a Running whose flows wait for their turns."""
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
    """An emulated link that runs.

    Attributes:
        link: The Link.
        flows: The flows.FlowRequests.
        seconds: The length of the run.
        emulator: The machine.Process of the emulator.
        turns: The Turn of each flow.
        log: The file that the emulator writes at the end.
    """

    link: Link
    flows: list
    seconds: float
    emulator: machine.Process
    turns: list
    log: Path

    def follow(self):
        """Start and stop the flows whose turns begin and end.

        Raises:
            InputError: A flow ended before its turn was over.
        """
        _, *begun = self.emulator.output
        now = time.monotonic_ns() - int(begun[0]) if begun else 0
        for turn in self.turns:
            turn.follow(now)

    def finished(self):
        """Wait until the end.

        Returns:
            The Emulation.

        Raises:
            InputError: A flow ended before its turn was over, or no flow ever sent.
        """
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
    """Return how many bytes a TCP flow may have in flight."""
    fastest = max(bits for _, bits in link.rates)
    return fastest * (max((link.rtt, *link.rtts)) + link.jitter) // (8 * SECOND) + min(link.buffer, MOST_WAITING)


@contextmanager
def _emulator(link, duration, senders, receivers, folder, log):
    program, configuration = (
        machine.build(SOURCE, folder, *replay.link_options(replay.header(link))),
        folder / "configuration",
    )
    configuration.write_text(link.configuration(duration, PORT))
    with open(configuration) as stdin:
        command = [program, senders, receivers, machine.DEVICE, log]
        with machine.Process("the emulator", command, folder, stdin=stdin) as process:
            yield process
