"""Flows: who sends over an emulated link.

A flow is asked for as KIND or KIND:ARGUMENT. Any kernel's congestion control is a KIND; others are in `kinds.KINDS`,
each a class made from the text after the colon, with a method `prepare(context)` that is a context manager: it makes
what the flow needs on the machine, gives Commands, and takes it all away again.
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
    """A flow that is asked for.

    name: as it was written. flow: what has `prepare`. start, stop: in ns of the run, from when until when it sends;
    to the end if `stop` is None. rtt: its R_m in ns, None if it is the link's.
    """

    name: str
    flow: object
    start: int = 0
    stop: int | None = None
    rtt: int | None = None


@dataclass(frozen=True)
class Context:
    """Where a flow runs.

    address, port: of its receiver; packets are its own by the port to which they go, over TCP or UDP.
    number: of the flow, from 0.
    senders, receivers: the names of the network namespaces (`ip netns exec NAME …`).
    folder:  for files, gone after the run.
    seconds: how long the link is emulated, from the first packet on. Commands need not end by themselves.
    link:    a Link.
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
    """Where a sender logs its steps, as CSV (docs/deploy.md); the model whose beliefs it forms, and the steps of a
    window, at whose end they time out; the envelope that it is to keep to, if it guards something."""

    file: Path
    model: Model
    window: int
    envelope: Controller | None = None


@dataclass(frozen=True)
class Commands:
    """Commands, as lists of words, that run in the namespace of receivers and in that of senders until they are killed.
    The receiver's prints a line once it may be sent to; only then does the sender's start. If either ends early, the
    last line of its standard error says why. congestion_control: what the kernel is to run for it, None if it is not
    TCP. log: None if the sender keeps none."""

    receiver: list
    sender: list
    congestion_control: str | None = None
    log: Log | None = None


class Kernel:
    """A TCP flow of iperf3's with a congestion control of the kernel's, by its name."""

    def __init__(self, name):
        self.name = name

    @contextmanager
    def prepare(self, context):
        """As the module says."""
        if not shutil.which("iperf3"):
            raise InputError("a TCP flow needs `iperf3`; install iperf3")
        place = ["--port", context.port, "--forceflush"]
        seconds = int(context.seconds) + 60
        sender = ["iperf3", "--client", context.address, *place, "--congestion", self.name, "--time", seconds]
        yield Commands(["iperf3", "--server", *place], sender, self.name)


def available():
    """The names of the congestion controls that the kernel has now."""
    return AVAILABLE.read_text().split() if AVAILABLE.exists() else []


def in_kernel(name):
    """Whether the kernel has a congestion control of this name, or loads one."""
    try:
        with socket.socket() as trial:
            trial.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except (OSError, ValueError, AttributeError):
        return False
    return True
