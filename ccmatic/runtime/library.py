"""An exported controller's C, built and called from Python: a sender for `ccmatic.simulation`, one call a step."""

import ctypes
import os
import shutil
import subprocess
import tempfile
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from ccmatic.base import InputError, write_text
from ccmatic.runtime.sources import LONGEST_RTT, library_sources

_U64, _SENDER = ctypes.c_uint64, ctypes.c_void_p


class Library:
    """The C of an Export as a shared library, built in a temporary folder with the machine's C compiler, $CC or cc.

    flags: more options for the compiler. Raises InputError if there is none or it refuses.
    """

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
        """Of the beliefs, in order."""
        return tuple(belief.name for belief in self.export.model.beliefs)

    def __getitem__(self, function):
        return getattr(self._library, f"{self.export.name}_{function}")

    def sender(self, packet, rtt=10**9, now=0):
        """A fresh CompiledSender. packet: MSS, bytes; rtt: R_m and now: the time, in nanoseconds."""
        return CompiledSender(self, packet, rtt, now)

    def decide(self, beliefs, packet, wanted=0):
        """The rate for beliefs, by name, in bytes per step, bytes and steps: rounded down, at least 0. wanted: of an
        envelope, the same."""
        values = (_U64 * len(self.names))(*(beliefs.get(name, 0) for name in self.names))
        function = self["decide"]
        function.restype, function.argtypes = _U64, [ctypes.c_void_p, _U64, _U64]
        return function(values, packet, wanted)


class Called:
    """One flow of a Library, whose functions are called with it. Raises InputError where it cannot begin."""

    def __init__(self, library, packet, rtt=10**9, now=0):
        self._library = library
        self._state = ctypes.create_string_buffer(library["size"]())
        self._pointer = ctypes.cast(self._state, _SENDER)
        self.packet = packet
        if not self._call("init", ctypes.c_bool, (_U64, now), (_U64, rtt), (ctypes.c_uint32, packet)):
            message = f"a sender cannot begin with an R_m of {rtt} ns and packets of {packet} bytes"
            raise InputError(f"{message}; expected both above 0, and R_m at most {LONGEST_RTT}")

    def sent(self, now, size):
        """Bytes were sent, at a time in nanoseconds."""
        self._call("sent", None, (_U64, now), (_U64, size))

    def acked(self, now, sent_at, size):
        """Bytes were acknowledged, the last of which was sent at `sent_at`."""
        self._call("acked", None, (_U64, now), (_U64, sent_at), (_U64, size))

    def lost(self, now, sent_at, size):
        """Bytes were found to be lost that were sent at `sent_at`."""
        self._call("lost", None, (_U64, now), (_U64, sent_at), (_U64, size))

    def gave_up(self, now, sent_at, size):
        """Bytes were given up, the last of which was sent at `sent_at`."""
        self._call("gave_up", None, (_U64, now), (_U64, sent_at), (_U64, size))

    def rtt(self, rtt):
        """An RTT was measured."""
        self._call("rtt", None, (_U64, rtt))

    def guessed(self):
        """The R_m that it was made with is a guess, until an RTT is measured."""
        self._call("guessed", None)

    def fix_step(self, length):
        """Steps of so many ns, whatever RTTs are measured: False if that is refused."""
        return self._call("fix_step", ctypes.c_bool, (_U64, length))

    def start(self, **values):
        """Begin here with these values of beliefs, or of state, as C keeps them."""
        for name, value in values.items():
            if not self._call("start", ctypes.c_bool, (ctypes.c_char_p, name.encode()), (_U64, value)):
                raise InputError(f"{self._library.export.name} has no belief and no state {name}")

    def rate(self, now):
        """The rate to send at from now on, bytes per second."""
        return self._call("rate", _U64, (_U64, now))

    @property
    def step_ns(self):
        """The length of a step now."""
        return self._call("step_ns", _U64)

    def _call(self, function, result, *arguments):
        called = self._library[function]
        called.restype, called.argtypes = result, [_SENDER, *(kind for kind, _ in arguments)]
        return called(self._pointer, *(value for _, value in arguments))


class CompiledSender(Called):
    """One flow. Called with an Observation at each step's end, it returns the next step's rate, bytes per time; `over`
    has to say how long a step is: the `propagation` of the simulation's path."""

    over = Fraction(1)

    def __init__(self, library, packet, rtt, now):
        super().__init__(library, packet, rtt, now)
        self._step = library["step"]
        self._step.restype, self._step.argtypes = _U64, [_SENDER] + [_U64] * 5

    def __call__(self, seen):
        if seen.step == 0:
            return self.rate_at_first() / self.over
        return self.step(seen.sent, seen.delivered, seen.lost, seen.last, seen.first) / self.over

    def rate_at_first(self):
        """The rate of the first step, bytes per step."""
        return Fraction(max(self.packet, self._library.decide(self.beliefs(), self.packet)))

    def step(self, sent, acked, lost, last_delay, first_delay):
        """A step is over, with cumulative bytes and delays in whole steps: the next one's rate, bytes per step."""
        return Fraction(self._step(self._pointer, sent, acked, lost, last_delay, first_delay))

    def clamp(self, now, wanted):
        """The rate to send at from now on in an envelope, bytes per second, where this one is wanted."""
        return self._call("clamp", _U64, (_U64, now), (_U64, wanted))

    def limited(self, now):
        """There is nothing more to send, though the rate would let it."""
        self._call("limited", None, (_U64, now))

    def found(self, now, sent_at, size):
        """Bytes were acknowledged that had been given up or told to be lost."""
        self._call("found", None, (_U64, now), (_U64, sent_at), (_U64, size))

    def in_flight(self, now, size):
        """So many bytes are out, by the count of a stack that takes back losses."""
        self._call("in_flight", None, (_U64, now), (_U64, size))

    def more_jitter(self, length):
        """D is longer by so many ns, whatever R_m is."""
        self._call("more_jitter", None, (ctypes.c_uint32, length))

    def next(self, now, due, packets=1):
        """When the next packet is due after so many that were due at `due` and leave now, in ns."""
        return self._call("next", _U64, (_U64, now), (_U64, due), (_U64, packets))

    @property
    def at_start(self):
        """Whether it sends as the controller does that runs at its start."""
        return self._call("at_start", ctypes.c_bool)

    @property
    def begun_again(self):
        """How often beliefs were dropped, as they may have been false."""
        return self._call("begun_again", _U64)

    def beliefs(self):
        """The beliefs at the end of the last step, by name."""
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
    """Run the C compiler, $CC or cc; InputError if there is none or it refuses."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not compiler:
        raise InputError("no C compiler; expected cc, gcc or clang (Debian: apt-get install gcc libc6-dev)")
    try:
        done = subprocess.run([*compiler.split(), *arguments], capture_output=True, text=True)
    except OSError as error:
        raise InputError(f"cannot run the C compiler {compiler}: {error.strerror}") from None
    if done.returncode:
        raise InputError(f"{compiler} refused the generated C: {done.stderr.strip()[:2000]}")
