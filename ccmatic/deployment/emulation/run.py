"""A run: flows send over an emulated link in their turns, and a log records each packet's loss or release."""

import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from ccmatic.base import InputError, counted, definitions
from ccmatic.contracts import load_definition
from ccmatic.deployment.emulation import beliefs, machine, replay
from ccmatic.deployment.emulation.flows import Context
from ccmatic.deployment.emulation.link import MS, SECOND, Link
from ccmatic.fitting import least, packet_log

#: Two limits. In a valid run, a flow may be held up for at most this share of its turn. A duration in ns is always
#: tolerated, because a program needs some time to begin.
TOLERATED, AT_FIRST = 0.02, 50 * MS


@dataclass(frozen=True)
class Hold:
    """A time for which the machine held up a part of a flow."""

    what: str  #: the part that was held up, in words
    ns: int  #: how long it was held up, in ns
    of: int  #: the length of the flow's turn, in ns

    def __str__(self):
        return f"{self.what} for {self.ns / SECOND:.2f} of {self.of / SECOND:.2f} s; {TOLERATED:.0%} are tolerated"

    @property
    def too_long(self):
        """Whether the flow was held up for too long. In this case, the run does not show an undisturbed flow."""
        return self.ns > max(AT_FIRST, TOLERATED * self.of)


class Turn:
    """A flow during its turn in a run. As a context manager, a Turn sets up the machine for the flow, and cleans up."""

    def __init__(self, request, number, context):
        self._request, self._context = request, context
        self._who = f"of flow {number} ({request.name})"
        self._receiver = self._sender = self._connection = None
        self.over = False

    def __enter__(self):
        with ExitStack() as stack:
            self._commands = stack.enter_context(self._request.flow.prepare(self._context))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure):
        return self._stack.__exit__(*failure)

    @property
    def log(self):
        return self._commands.log

    def receive(self):
        """Start the receiver, and return once the sender can send."""
        self._receiver = self._begin("receiver", self._commands.receiver, self._context.receivers)
        self._receiver.wait_until_ready()

    def follow(self, now):
        """Start or stop sending if the flow's turn begins or ends at `now`, in ns of the run."""
        if not self._sender and now >= self._request.start:
            self._sender = self._begin("sender", self._commands.sender, self._context.senders)
        if self._request.stop is not None and now >= self._request.stop and not self.over:
            self.end()
        if not self.over:
            for process in filter(None, (self._receiver, self._sender)):
                process.check()
                if self._sender:
                    process.look()

    def end(self):
        """Stop sending, and discard bytes that wait in the kernel."""
        if self.over or not self._sender:
            return
        self.over = True
        wanted, place = self._commands.congestion_control, (self._context.senders, self._context.port)
        self._connection = machine.connection(*place)
        for process in (self._receiver, self._sender):
            process.look()
        self._sender.end()
        machine.close_connections(*place)
        used = self._connection.congestion_control if self._connection else None
        if wanted and used not in (wanted, None):
            raise InputError(f"the sender {self._who} ran the kernel's {used}; expected {wanted}")

    def holds(self, steps, end):
        """Yield the Holds of the flow's parts.

        A sender in the kernel is held up while its connection is idle. Any other sender, and the receiver of such a
        sender, is held up while its process is stopped or waits for a processor.
        """
        if self._commands.congestion_control:
            if self._connection:
                what = f"the sender {self._who} had nothing to send, or no room at the receiver,"
                yield Hold(what, self._connection.idle, self._connection.lasted)
            return
        for process in filter(None, (self._receiver, self._sender)):
            held, watched = process.held
            if process is self._sender and steps:
                held = max(held, steps.missing(end))
            yield Hold(f"{process.what} was held up", held, watched)

    def _begin(self, what, command, namespace):
        return self._stack.enter_context(
            machine.Process(f"the {what} {self._who}", command, self._context.folder, namespace)
        )


SOURCE = Path(__file__).with_name("emulator.c")

#: A limit on the TCP bytes that may wait in a buffer, even if the buffer is larger.
MOST_WAITING = 2**26

#: The port of the first flow's receiver, and the longest time in seconds to wait for a first packet.
PORT, PATIENCE = 5001, 15

#: A record of the log, for one packet. Instants are in ns from the arrival of the first packet; -1 means never.
#: `size` is in bytes. `flow` is the flow's number, or -1 if the packet belongs to no flow. `admitted` is the instant at
#: which the packet's last byte leaves the bottleneck. `planned` is the planned instant of the release to the receivers,
#: and `released` the actual instant. `marked` is 1 if the packet has a mark. It is 2 if the link would mark the packet,
#: but its sender does not understand marks.
RECORD = np.dtype(
    [("arrival", "<i8"), ("admitted", "<i8"), ("planned", "<i8"), ("released", "<i8"), ("size", "<i4"),
     ("flow", "<i2"), ("lost", "i1"), ("marked", "i1")]
)  # fmt: skip

#: Lateness in ns: the lateness that a valid run tolerates, and the extra time that each packet of a batch may take. All
#: packets of a batch are due at one instant, but no output is infinitely fast.
TOLERANCE, PACE = SECOND // 1000, 5000


@dataclass(frozen=True, eq=False)
class Emulation:
    """The outcome of a run."""

    link: Link
    flows: tuple  #: the names of the flows
    duration: int  #: the length of the run in ns
    log: np.ndarray  #: a record of the type RECORD per packet, in order of arrival
    real_time: bool  #: whether the emulator had real-time priority
    cpu: float  #: the share of a processor's time that the emulator used
    dropped: int  #: the number of packets that the machine lost
    spans: tuple  #: the planned start and end of each flow's sending, in ns
    steps: tuple  #: the beliefs.Steps of each flow; None if a flow logs no steps or ended before its first step
    holds: tuple = ()  #: the turns.Holds of all flows

    @cached_property
    def lateness(self):
        """The lateness of release, in ns, of each packet that was due before the end of the run.

        A packet is due at its planned instant or at PACE after the due time of the previous packet, whichever is later.
        """
        packets = self.log[(self.log["lost"] == 0) & (self.log["planned"] < self.duration)]
        packets = packets[np.argsort(packets["planned"], kind="stable")]
        paces = PACE * np.arange(len(packets))
        due = np.maximum.accumulate(packets["planned"] - paces) + paces if len(packets) else paces
        return np.maximum(0, np.where(packets["released"] < 0, self.duration, packets["released"]) - due)

    @cached_property
    def jitter(self):
        """The smallest D, in ns, with which an execution of CBR-delay explains the released packets.

        If the link has several rates or a model, or if the flows' R_m differ, the explanation is an execution of the
        requested link instead of CBR-delay. The value is None for fewer than two packets.
        """
        kept = self.log[self.log["released"] >= 0]
        if len(kept) < 2:
            return None
        other = self.link.rtts or self.link.schedule or self.link.opportunities or self.link.model or self.link.change
        if len(self.link.rates) == 1 and not other:
            log = packet_log("the log", kept["arrival"], kept["released"], kept["size"])
            model = load_definition("models", "MODEL", definitions.chosen("models", "EMULATED"))
            [jitter], _ = least(log, model, np.array([0]), np.array([len(kept)]))
            return round(jitter * SECOND)
        delays = kept["released"] - kept["admitted"] - self.link.propagations(kept)
        return int(delays.max() - delays.min())

    def alone_until(self, flow):
        """Return the time in ns until which a flow was the only flow on a link of constant rate; 0 if it never was."""
        if self.link.schedule or self.link.opportunities or self.link.model:
            return 0
        others = self.log["arrival"][(self.log["flow"] != flow) & (self.log["flow"] >= 0)]
        changes = [time for time, _ in self.link.rates[1:]]
        return int(min([self.spans[flow][1], *changes, *others[:1]]))

    @cached_property
    def false_beliefs(self):
        """The false beliefs of each flow, as (step, belief's name, Truth); None for a flow that logs no steps."""
        kept = self.log[self.log["lost"] == 0]
        return [
            steps and list(steps.false(self.link, kept, self.alone_until(flow)))
            for flow, steps in enumerate(self.steps)
        ]

    @cached_property
    def faults(self):
        """The reasons why the run does not show the requested link; empty if the run shows it."""
        faults = []
        late = np.percentile(self.lateness, 99) if len(self.lateness) else 0
        if late > TOLERANCE:
            faults.append(f"1 % of the packets are over {late / 1e6:.2f} ms late; {TOLERANCE / 1e6:g} ms are tolerated")
        if self.dropped:
            faults.append(f"{self.dropped} packets were dropped outside the link")
        again = replay.outcomes(self.link, self.log["arrival"], self.log["size"], self.log["flow"])
        logged = self.log[["lost", "admitted", "planned", "marked"]].tolist()
        if again != [(lost, admitted, planned, marked > 0) for lost, admitted, planned, marked in logged]:
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
                    f"{name} believed falsely in {len(false)} of {counted(len(steps), 'step')}, first at "
                    f"{steps.columns['time'][step] / SECOND:.3f} s (step {step}): {belief} was "
                    f"{steps.columns[belief][step]}, while {truth}"
                )


def run_flows(link, flows, seconds):
    """Run flows over a link for this many seconds from the first packet on. At least one FlowRequest starts at 0."""
    with started(link, flows, seconds) as running:
        return running.finished()


@contextmanager
def started(link, flows, seconds):
    """Begin a run like `run_flows`, and yield a Running whose flows wait for their turns."""
    machine.require(flows)
    duration = int(seconds * SECOND)
    if any(request.rtt for request in flows):
        link = replace(link, rtts=tuple(request.rtt or link.rtt for request in flows))
    with machine.stopping_cleanly(), ExitStack() as stack:
        senders, receivers, folder = stack.enter_context(
            machine.workplace(link.mtu, _window(link), ecn=link.threshold is not None)
        )
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
    link: Link
    flows: list  #: the flows.FlowRequests
    seconds: float  #: the length of the run in seconds
    emulator: machine.Process
    turns: list  #: the Turn of each flow
    log: Path  #: the file to which the emulator writes the log at the end

    def follow(self):
        """Start each flow whose turn begins, and stop each flow whose turn ends."""
        _, *begun = self.emulator.output
        now = time.monotonic_ns() - int(begun[0]) if begun else 0
        for turn in self.turns:
            turn.follow(now)

    def finished(self):
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
    """Return the number of bytes that a TCP flow may have in flight on a link."""
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
