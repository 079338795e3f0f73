"""A flow in its turn: from when it is to start until it is to stop."""

from contextlib import ExitStack
from dataclasses import dataclass

from ccmatic.base import InputError
from ccmatic.emulation import machine
from ccmatic.emulation.link import MS, SECOND

#: The share of its turn for which a flow of a valid run may be held up. The least such time, in ns: a program takes a
#: while to begin.
TOLERATED, AT_FIRST = 0.02, 50 * MS


@dataclass(frozen=True)
class Hold:
    """For how long something of a flow was held up: `what`, in words; in `ns`, `of` so many ns of its turn."""

    what: str
    ns: int
    of: int

    def __str__(self):
        return f"{self.what} for {self.ns / SECOND:.2f} of {self.of / SECOND:.2f} s; {TOLERATED:.0%} are tolerated"

    @property
    def too_long(self):
        """Whether the run says nothing of an undisturbed flow."""
        return self.ns > max(AT_FIRST, TOLERATED * self.of)


class Turn:
    """A flow of a run, a context manager: what the flow needs on the machine is there within it.

    request: a flows.FlowRequest; number: of the flow; context: a flows.Context."""

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
        """Of the sender, a flows.Log or None."""
        return self._commands.log

    def receive(self):
        """Begin to receive; returns once packets may be sent."""
        self._receiver = self._begin("receiver", self._commands.receiver, self._context.receivers)
        self._receiver.wait_until_ready()

    def follow(self, now):
        """Send, or send no more, as is its turn `now`, in ns of the run. Raises InputError if the flow failed."""
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
        """Send no more, not even what waits in the kernel. Raises InputError if the kernel ran something else for it
        than was asked for."""
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
        """What held the flow up, Holds. A kernel's sender is held up while its connection is idle; any other, and its
        receiver, while the process is stopped or waits for a processor. steps: its beliefs.Steps, of which none may be
        missing, or None; end: when its turn was over, in ns of the run."""
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
