"""One run: flows over an emulated link, and the log of what became of each packet."""

import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from ccmatic.base import InputError
from ccmatic.emulate import machine, replay
from ccmatic.emulate.flows import Context
from ccmatic.emulate.link import SECOND, Link

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
    """

    link: Link
    flows: tuple
    duration: int
    log: np.ndarray
    real_time: bool
    cpu: float
    dropped: int

    @cached_property
    def lateness(self):
        """How late each packet was released that was to be before the end, in ns: after the plan, or PACE after the
        packet before it was due, if that is later."""
        packets = self.log[(self.log["lost"] == 0) & (self.log["planned"] < self.duration)]
        paces = PACE * np.arange(len(packets))
        due = np.maximum.accumulate(packets["planned"] - paces) + paces if len(packets) else paces
        return np.maximum(0, np.where(packets["released"] < 0, self.duration, packets["released"]) - due)

    @cached_property
    def faults(self):
        """Why the run is not a run of the link asked for; empty if it is one."""
        found = []
        late = np.percentile(self.lateness, 99) if len(self.lateness) else 0
        if late > TOLERANCE:
            found.append(f"1 % of the packets are over {late / 1e6:.2f} ms late; {TOLERANCE / 1e6:g} ms are tolerated")
        if self.dropped:
            found.append(f"{self.dropped} packets were dropped outside the link")
        again = replay.decisions(self.link, self.log["arrival"], self.log["size"])
        if again != [tuple(row) for row in self.log[["lost", "admitted", "planned"]].tolist()]:
            found.append("the log does not replay")
        return found


def emulate(link, flows, seconds):
    """Run flows, (name, flow) each, over the link for so many seconds from the first packet on; an Emulation.

    Raises InputError if this machine cannot, or if a flow fails."""
    machine.require()
    duration = int(seconds * SECOND)
    fastest = max(bits for _, bits in link.rates)
    window = fastest * (link.rtt + link.jitter) // (8 * SECOND) + min(link.buffer, MOST_WAITING)
    with machine.stopping_cleanly(), ExitStack() as stack:
        senders, receivers, folder = stack.enter_context(machine.workplace(link.mtu, window))
        program, log = machine.build(SOURCE, folder), folder / "log"
        configuration = folder / "configuration"
        configuration.write_text(link.configuration(duration, PORT))
        with open(configuration) as stdin:
            command = [program, senders, receivers, machine.DEVICE, log]
            emulator = stack.enter_context(machine.Process("the emulator", command, folder, stdin=stdin))
        emulator.wait_until_ready()
        processes = []
        commands = {}
        for number, (name, flow) in enumerate(flows):
            context = Context(machine.RECEIVER, PORT + number, senders, receivers, folder, seconds, link)
            commands[f"of flow {number} ({name})"] = stack.enter_context(flow.prepare(context))
        for what, pair in commands.items():
            processes.append(machine.Process(f"the receiver {what}", pair.receiver, folder, receivers))
            stack.enter_context(processes[-1]).wait_until_ready()
        for what, pair in commands.items():
            processes.append(machine.Process(f"the sender {what}", pair.sender, folder, senders))
            stack.enter_context(processes[-1])
        _wait(emulator, processes, seconds)
        for number, (what, pair) in enumerate(commands.items()):
            _check_identity(what, pair, senders, PORT + number)
        real, cpu, dropped = emulator.output[-1].split()
        return Emulation(
            link=link,
            flows=tuple(name for name, _ in flows),
            duration=duration,
            log=np.fromfile(log, RECORD),
            real_time=real == "1",
            cpu=float(cpu) / seconds,
            dropped=int(dropped),
        )


def _check_identity(what, commands, senders, port):
    """InputError if the kernel ran something else for a flow than was asked for."""
    asked, found = commands.congestion_control, machine.congestion_control(senders, port)
    if asked and found not in (asked, None):
        raise InputError(f"the sender {what} ran the kernel's {found}; expected {asked}")


def _wait(emulator, processes, seconds):
    """Until the emulator is done; InputError if a flow ends before, or never sends."""
    end = time.monotonic() + seconds + PATIENCE
    while emulator.code is None:
        for process in processes:
            process.check()
        if time.monotonic() > end:
            raise InputError(f"no packet was sent within {PATIENCE} s")
        time.sleep(0.02)
    if emulator.code:
        emulator.check()
