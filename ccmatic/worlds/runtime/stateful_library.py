"""Call the C code of exported stateful controllers from Python."""

import ctypes
from fractions import Fraction

from ccmatic.worlds.c import ONE
from ccmatic.worlds.runtime.library import LibraryFlow

_U64, _I64 = ctypes.c_uint64, ctypes.c_int64


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
    """One flow of a stateful controller."""

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
        pairs = zip(self.export.controller.state, self.kept(), strict=True)
        return {memory.name: Fraction(kept, ONE[memory.unit]) for memory, kept in pairs}

    def kept(self):
        """Return the state in the order of the C code, as the integers that the C code stores."""
        count = len(self.export.controller.state)
        return self._call("state", ctypes.POINTER(_I64 * max(1, count))).contents[:count]
