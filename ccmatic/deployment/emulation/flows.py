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
    """A flow that a run should have.

    Attributes:
        name: The text by which the user requested the flow.
        flow: The object whose method `prepare` sets up the flow.
        start: The time at which the flow starts to send, in ns of the run.
        stop: The time at which the flow stops, in ns of the run; None if the flow lasts until the end of the run.
        rtt: R_m of the flow in ns; None for the R_m of the link.
    """

    name: str
    flow: object
    start: int = 0
    stop: int | None = None
    rtt: int | None = None


@dataclass(frozen=True)
class Context:
    """The environment in which a flow runs.

    Attributes:
        address: The address of the flow's receiver.
        port: The port of the flow's receiver. TCP or UDP packets to this port belong to the flow.
        number: The number of the flow, from 0.
        senders: The name of the senders' network namespace (`ip netns exec NAME …`).
        receivers: The name of the receivers' network namespace.
        folder: A folder for files, which exists until the end of the run.
        seconds: The time for which the machine emulates the link, from the first packet on. Commands may run longer.
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
    """A log in which a sender records its steps.

    Attributes:
        file: The CSV file of the log (docs/reference/senders.md).
        model: The model whose beliefs the sender forms.
        window: The number of steps in a window. Beliefs time out at the end of a window.
        envelope: The envelope that the sender must obey, or None.
    """

    file: Path
    model: Model
    window: int
    envelope: Controller | None = None


@dataclass(frozen=True)
class Commands:
    """The commands of a flow, each a list of words. The commands run until they are killed.

    The receiver prints a line once it is ready; only then does the sender start. If a command ends early, the reason is
    the last line of the command's standard error.

    Attributes:
        receiver: The command that runs in the namespace of receivers.
        sender: The command that runs in the namespace of senders.
        congestion_control: The congestion control that the kernel should use for the flow; None if the flow does not
            use TCP.
        log: The sender's Log; None if the sender keeps no log.
    """

    receiver: list
    sender: list
    congestion_control: str | None = None
    log: Log | None = None


class Kernel:
    """A TCP flow of iperf3 that uses a congestion control of the kernel."""

    tools = ("iperf3",)

    def __init__(self, name):
        self.name = name

    @contextmanager
    def prepare(self, context):
        """Yield the flow's Commands; the description of this module explains `prepare`."""
        place = ["--port", context.port, "--forceflush"]
        seconds = int(context.seconds) + 60
        sender = ["iperf3", "--client", context.address, *place, "--congestion", self.name, "--time", seconds]
        yield Commands(["iperf3", "--server", *place], sender, self.name)


def available():
    """Return the names of the congestion controls that are loaded in the kernel."""
    return AVAILABLE.read_text().split() if AVAILABLE.exists() else []


def in_kernel(name):
    """Return whether the kernel has a congestion control of this name, or can load one."""
    try:
        with socket.socket() as trial:
            trial.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
    except (OSError, ValueError, AttributeError):
        return False
    return True
