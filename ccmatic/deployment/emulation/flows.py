"""Flows: the senders over an emulated link.

The text of a flow is KIND or KIND:ARGUMENT. Every congestion control of the kernel is a KIND. `kinds.KINDS` lists the
other kinds. Each kind is a class or a function, and the text after the colon is its argument. The method
`prepare(context)` is a context manager. This method prepares the machine for the flow, yields Commands, and finally
removes everything that it created. The attribute `tools` names the programs that the flow needs.
"""

import socket
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ccmatic.contracts import Model
from ccmatic.controllers import Controller
from ccmatic.deployment.emulation.link import Link

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


@dataclass(frozen=True)
class FlowRequest:
    """A flow that a run should have."""

    name: str  #: the text by which the user requested the flow
    flow: object  #: the object whose method `prepare` sets up the flow
    start: int = 0  #: the time at which the flow starts to send, in ns of the run
    stop: int | None = None  #: in ns of the run; None for the end of the run
    rtt: int | None = None  #: R_m of the flow in ns; None for the R_m of the link


@dataclass(frozen=True)
class Context:
    """The environment in which a flow runs."""

    address: str  #: the address of the flow's receiver
    port: int  #: the port of the flow's receiver. TCP or UDP packets to this port belong to the flow
    number: int  #: the number of the flow, from 0
    senders: str  #: the name of the senders' network namespace (`ip netns exec NAME …`)
    receivers: str  #: the name of the receivers' network namespace
    folder: Path  #: a folder for files, which exists until the end of the run
    seconds: float  #: how long the link is emulated, from the first packet on; commands may run longer
    link: Link


@dataclass(frozen=True)
class Log:
    """A log in which a sender records its steps."""

    file: Path  #: the CSV file of the log (docs/reference/senders.md)
    model: Model  #: the model whose beliefs the sender forms
    window: int  #: the number of steps in a window. Beliefs time out at the end of a window
    envelope: Controller | None = None  #: the envelope that the sender must obey, or None


@dataclass(frozen=True)
class Commands:
    """The commands of a flow, each a list of words. The commands run until they are killed.

    The receiver prints a line once it is ready; only then does the sender start. If a command ends early, the reason is
    the last line of the command's standard error.
    """

    receiver: list  #: the command that runs in the namespace of receivers
    sender: list  #: the command that runs in the namespace of senders
    congestion_control: str | None = None  #: of the kernel; None if the flow does not use TCP
    log: Log | None = None  #: the sender's Log; None if the sender keeps no log


class Kernel:
    """A TCP flow of iperf3 that uses a congestion control of the kernel."""

    tools = ("iperf3",)

    def __init__(self, name):
        self.name = name

    @contextmanager
    def prepare(self, context):
        place = ["--port", context.port, "--forceflush"]
        seconds = int(context.seconds) + 60
        sender = ["iperf3", "--client", context.address, *place, "--congestion", self.name, "--time", seconds]
        yield Commands(["iperf3", "--server", *place], sender, self.name)


def available():
    return AVAILABLE.read_text().split() if AVAILABLE.exists() else []


def in_kernel(name):
    try:
        with socket.socket() as trial:
            trial.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except (OSError, ValueError, AttributeError):
        return False
    return True
