"""The C of an exported controller with state, called from Python."""

import ctypes
from fractions import Fraction

from ccmatic.compilers.c import ONE
from ccmatic.runtime.library import Called

_U64, _I64 = ctypes.c_uint64, ctypes.c_int64


class StepObservations(ctypes.Structure):
    """What was seen by the end of a step, as `struct ccm_seen` has it: bytes so far, and whole steps; a delay of -1 is
    none. waited: the delay itself, in 4096ths of a step."""

    _fields_ = [
        (name, _I64) for name in ("acked", "lost", "sent", "admitted", "time", "delay", "timeout", "measured", "waited")
    ]


class StatefulSender(Called):
    """One flow of a controller with state."""

    def step(self, seen):
        """A step is over, in which these were the StepObservations."""
        self._call("step", None, (ctypes.POINTER(StepObservations), ctypes.byref(seen)))

    def window(self, now=0):
        """The most bytes that may be out from now on."""
        return self._call("window", _U64, (_U64, now))

    def rate_per_step(self):
        """The rate of the step under way, bytes per step."""
        return self._call("rate_per_step", _U64)

    @property
    def export(self):
        """What it runs."""
        return self._library.export

    @property
    def stayed(self):
        """In how many steps what the controller assumes was not so."""
        return self._call("stayed", _U64)

    def state(self):
        """What it remembers, by name: bytes, bytes per step, steps, numbers; conditions are 1 or 0."""
        memories = self.export.controller.state
        return {each.name: Fraction(kept, ONE[each.unit]) for each, kept in zip(memories, self.kept(), strict=True)}

    def kept(self):
        """The same in order as C keeps it, as ints."""
        count = len(self.export.controller.state)
        return self._call("state", ctypes.POINTER(_I64 * max(1, count))).contents[:count]
