"""Flows: the senders over an emulated link.

A flow is requested as KIND or KIND:ARGUMENT. Every congestion control of the kernel is a KIND. The other kinds are in
`kinds.KINDS`. Each is a class, and the text after the colon is the argument of its constructor. The method
`prepare(context)` is a context manager: it makes what the flow needs on the machine, yields Commands, and removes
everything again.
"""

import shutil
import socket
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.contracts import Model
from ccmatic.controllers import Controller
from ccmatic.emulation.link import Link

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


@dataclass(frozen=True)
class FlowRequest:
    """A requested flow.

    Attributes:
        name: The text of the request.
        flow: The object with `prepare`.
        start: When it starts to send, in ns of the run.
        stop: When it stops, in ns of the run; None if it stops at the end.
        rtt: Its R_m in ns; None for the link's R_m.
    """

    name: str
    flow: object
    start: int = 0
    stop: int | None = None
    rtt: int | None = None


@dataclass(frozen=True)
class Context:
    """Where a flow runs.

    Attributes:
        address: The address of its receiver.
        port: The port of its receiver. TCP or UDP packets to this port are the flow's.
        number: The number of the flow, from 0.
        senders: The name of the senders' network namespace (`ip netns exec NAME …`).
        receivers: The name of the receivers' network namespace.
        folder: A folder for files, removed after the run.
        seconds: How long the link is emulated, from the first packet on. Commands need not end by themselves.
        link: The Link.
    """

    address: str
    port: int
    number: int
    senders: str
    receivers: str
    folder: Path
    seconds: float
    link: Link


@dataclass(frozen=True)
class Log:
    """A sender's log of its steps.

    Attributes:
        file: The CSV file (docs/reference/senders.md).
        model: The model whose beliefs the sender forms.
        window: The number of steps in a window. Beliefs time out at the end of a window.
        envelope: The envelope that the sender has to obey, or None.
    """

    file: Path
    model: Model
    window: int
    envelope: Controller | None = None


@dataclass(frozen=True)
class Commands:
    """The commands of a flow, as lists of words, which run until they are killed.

    The receiver prints a line once it is ready. Only then does the sender start. If a command ends early, the last line
    of its standard error is the reason.

    Attributes:
        receiver: The command in the namespace of receivers.
        sender: The command in the namespace of senders.
        congestion_control: The congestion control that the kernel should run for the flow; None if the flow is not TCP.
        log: The sender's Log; None if it keeps none.
    """

    receiver: list
    sender: list
    congestion_control: str | None = None
    log: Log | None = None


class Kernel:
    """A TCP flow of iperf3 with a congestion control of the kernel, by name."""

    def __init__(self, name):
        self.name = name

    @contextmanager
    def prepare(self, context):
        """Yield the flow's Commands, as the module describes."""
        if not shutil.which("iperf3"):
            raise InputError("a TCP flow needs `iperf3`; install iperf3")
        place = ["--port", context.port, "--forceflush"]
        seconds = int(context.seconds) + 60
        sender = ["iperf3", "--client", context.address, *place, "--congestion", self.name, "--time", seconds]
        yield Commands(["iperf3", "--server", *place], sender, self.name)


def available():
    """Return the names of the congestion controls that the kernel has loaded."""
    return AVAILABLE.read_text().split() if AVAILABLE.exists() else []


def in_kernel(name):
    """Return whether the kernel has a congestion control of this name, or can load one."""
    try:
        with socket.socket() as trial:
            trial.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except (OSError, ValueError, AttributeError):
        return False
    return True
