"""Build an exported controller's C code and call it from Python.

The result is a sender for `ccmatic.networks.simulation`, with one call per step.
"""

import ctypes
import os
import shutil
import subprocess
import tempfile
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from ccmatic.base import InputError, write_text
from ccmatic.worlds.runtime.build import LONGEST_RTT, library_sources

_U64, _I64, _SENDER = ctypes.c_uint64, ctypes.c_int64, ctypes.c_void_p


class Library:
    """The C code of an Export, built as a shared library in a temporary folder by $CC or cc, with extra flags."""

    def __init__(self, export, flags=()):
        self.export = export
        with tempfile.TemporaryDirectory(prefix="ccmatic-") as folder:
            for name, text in library_sources(export).items():
                write_text(Path(folder) / name, text)
            source, built = (Path(folder) / f"{export.name}{suffix}" for suffix in (".c", ".so"))
            compile_c(["-std=c99", "-O2", "-shared", "-fPIC", *flags, "-o", str(built), str(source)])
            self._library = ctypes.CDLL(str(built))

    @cached_property
    def names(self):
        return tuple(belief.name for belief in self.export.model.beliefs)

    def __getitem__(self, function):
        return getattr(self._library, f"{self.export.name}_{function}")

    def sender(self, packet, rtt=10**9, now=0):
        """Return a new CompiledSender for packets of MSS bytes, R_m in ns and the current time in ns."""
        return CompiledSender(self, packet, rtt, now)

    def decide(self, beliefs, packet, wanted=0):
        """Return the controller's rate for given beliefs, in bytes per step, rounded down, at least 0.

        Beliefs are in bytes per step, bytes and steps. Only an envelope reads `wanted`, a policy's request.
        """
        values = (_U64 * len(self.names))(*(beliefs.get(name, 0) for name in self.names))
        function = self["decide"]
        function.restype, function.argtypes = _U64, [ctypes.c_void_p, _U64, _U64]
        return function(values, packet, wanted)


class LibraryFlow:
    """One flow of a Library. Its methods call the functions of the library. Times are in ns, and sizes are in bytes."""

    def __init__(self, library, packet, rtt=10**9, now=0):
        self._library = library
        self._state = ctypes.create_string_buffer(library["size"]())
        self._pointer = ctypes.cast(self._state, _SENDER)
        self.packet = packet
        if not self._call("init", ctypes.c_bool, (_U64, now), (_U64, rtt), (ctypes.c_uint32, packet)):
            message = f"a sender cannot begin with an R_m of {rtt} ns and packets of {packet} bytes"
            raise InputError(f"{message}; expected both above 0, and R_m at most {LONGEST_RTT}")

    def sent(self, now, size):
        self._call("sent", None, (_U64, now), (_U64, size))

    def acked(self, now, sent_at, size):
        """Report that bytes were acknowledged. The last of these bytes was sent at `sent_at`."""
        self._call("acked", None, (_U64, now), (_U64, sent_at), (_U64, size))

    def lost(self, now, sent_at, size):
        """Report that bytes sent at `sent_at` were detected as lost."""
        self._call("lost", None, (_U64, now), (_U64, sent_at), (_U64, size))

    def gave_up(self, now, sent_at, size):
        """Report that the sender gave up waiting for bytes. The last of these bytes was sent at `sent_at`."""
        self._call("gave_up", None, (_U64, now), (_U64, sent_at), (_U64, size))

    def rtt(self, rtt):
        self._call("rtt", None, (_U64, rtt))

    def guessed(self):
        """Declare that the initial R_m is only a guess until the first measurement of an RTT."""
        self._call("guessed", None)

    def fix_step(self, length):
        """Fix the length of a step in ns, regardless of measured RTTs. Return whether the sender accepts it."""
        return self._call("fix_step", ctypes.c_bool, (_U64, length))

    def start(self, **values):
        """Begin with these values of beliefs or state, in the form that the C code stores."""
        for name, value in values.items():
            if not self._call("start", ctypes.c_bool, (ctypes.c_char_p, name.encode()), (_U64, value)):
                raise InputError(f"{self._library.export.name} has no belief and no state {name}")

    def rate(self, now):
        """Return the sending rate from now on, in bytes per second."""
        return self._call("rate", _U64, (_U64, now))

    @property
    def step_ns(self):
        return self._call("step_ns", _U64)

    def _call(self, function, result, *arguments):
        called = self._library[function]
        called.restype, called.argtypes = result, [_SENDER, *(kind for kind, _ in arguments)]
        return called(self._pointer, *(value for _, value in arguments))


class CompiledSender(LibraryFlow):
    """One flow as a sender for `simulate`.

    A call takes the Observation at the end of a step, and returns the rate of the next step in bytes per unit of time.

    Attributes:
        over: The length of a step, which equals the `propagation` of the simulation's path.
    """

    over = Fraction(1)

    def __init__(self, library, packet, rtt, now):
        super().__init__(library, packet, rtt, now)
        self._step = library["step"]
        self._step.restype, self._step.argtypes = _U64, [_SENDER] + [_U64] * 5

    def __call__(self, observed):
        """Return the rate of the next step in bytes per unit of time."""
        if observed.step == 0:
            return self.rate_at_first() / self.over
        bytes_so_far = observed.sent, observed.delivered, observed.lost
        return self.step(*bytes_so_far, observed.last, observed.first) / self.over

    def rate_at_first(self):
        """Return the rate of the first step, in bytes per step."""
        return Fraction(max(self.packet, self._library.decide(self.beliefs(), self.packet)))

    def step(self, sent, acked, lost, last_delay, first_delay):
        """End a step, given cumulative bytes and whole steps; return the next rate in bytes per step."""
        return Fraction(self._step(self._pointer, sent, acked, lost, last_delay, first_delay))

    def clamp(self, now, wanted):
        """Return the rate nearest to `wanted` that the envelope allows from now on, in bytes per second."""
        return self._call("clamp", _U64, (_U64, now), (_U64, wanted))

    def limited(self, now):
        """Report that the sender has no more data to send, although its rate would allow more."""
        self._call("limited", None, (_U64, now))

    def found(self, now, sent_at, size):
        """Report the acknowledgement of bytes that the sender had given up or reported as lost."""
        self._call("found", None, (_U64, now), (_U64, sent_at), (_U64, size))

    def in_flight(self, now, size):
        """Report the number of bytes in flight. A network stack counts them, and may undo detected losses."""
        self._call("in_flight", None, (_U64, now), (_U64, size))

    def more_jitter(self, length):
        """Lengthen the jitter D by this many ns, regardless of R_m."""
        self._call("more_jitter", None, (ctypes.c_uint32, length))

    def next(self, now, due, packets=1):
        """Return the time in ns at which the next packet is due, after packets due at `due` have left at `now`."""
        return self._call("next", _U64, (_U64, now), (_U64, due), (_U64, packets))

    @property
    def at_start(self):
        """Whether the sender still runs its start controller."""
        return self._call("at_start", ctypes.c_bool)

    @property
    def begun_again(self):
        """The number of times that the sender dropped its beliefs because they might have been false."""
        return self._call("begun_again", _U64)

    def beliefs(self):
        name, value = ctypes.c_char_p(), _U64()
        beliefs = {}
        for i in range(len(self._library.names)):
            self._call(
                "beliefs",
                ctypes.c_bool,
                (ctypes.c_uint, i),
                (ctypes.c_void_p, ctypes.byref(name)),
                (ctypes.c_void_p, ctypes.byref(value)),
            )
            beliefs[name.value.decode()] = value.value
        return beliefs


def compile_c(arguments):
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        raise InputError("no C compiler; expected cc, gcc or clang (Debian: apt-get install gcc libc6-dev)")
    try:
        done = subprocess.run([*compiler.split(), *arguments], capture_output=True, text=True)
    except OSError as error:
        raise InputError(f"cannot run the C compiler {compiler}: {error.strerror}") from None
    if done.returncode:
        raise InputError(f"{compiler} refused the C code: {done.stderr.strip()[:2000]}")


class StepObservations(ctypes.Structure):
    """The observations at the end of a step, in cumulative bytes and whole steps, like the C type `struct ccm_seen`.

    A delay of -1 means that no delay is known. The field `waited` is the precise delay, in 4096ths of a step.
    """

    _fields_ = [
        (name, _I64)
        for name in (
            *("acked", "lost", "sent", "admitted", "time", "delay"),
            *("timeout", "measured", "app_limited", "waited", "marked"),
        )
    ]


class StatefulSender(LibraryFlow):
    def step(self, observations):
        self._call("step", None, (ctypes.POINTER(StepObservations), ctypes.byref(observations)))

    def limited(self, now):
        """Report that there are no more data to send, although the window and the rate would allow more."""
        self._call("limited", None, (_U64, now))

    def window(self, now=0):
        """Return the largest number of bytes that may be in flight from now on."""
        return self._call("window", _U64, (_U64, now))

    def rate_per_step(self):
        """Return the rate of the current step, in bytes per step."""
        return self._call("rate_per_step", _U64)

    @property
    def export(self):
        return self._library.export

    @property
    def stayed(self):
        """The number of steps in which one of the controller's assumptions failed."""
        return self._call("stayed", _U64)

    def state(self):
        """Return the state by name, in bytes, bytes per step, steps, or plain numbers. A condition is 1 or 0."""
        from ccmatic.worlds.c import ONE  # imported here, so that running senders does not load a solver

        pairs = zip(self.export.controller.state, self.kept(), strict=True)
        return {memory.name: Fraction(kept, ONE[memory.unit]) for memory, kept in pairs}

    def kept(self):
        """Return the state in the order of the C code, as the integers that the C code stores."""
        count = len(self.export.controller.state)
        return self._call("state", ctypes.POINTER(_I64 * max(1, count))).contents[:count]
