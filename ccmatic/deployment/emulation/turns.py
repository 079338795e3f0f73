"""The turn of a flow: the part of a run from the flow's start to its stop."""

from contextlib import ExitStack
from dataclasses import dataclass

from ccmatic.base import InputError
from ccmatic.deployment.emulation import machine
from ccmatic.deployment.emulation.link import MS, SECOND

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
