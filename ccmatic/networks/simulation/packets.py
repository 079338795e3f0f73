"""Compile a model's link, which is written in C (packets.h), and call it from the simulator."""

import ctypes
import tempfile
import weakref
from fractions import Fraction
from functools import cache
from pathlib import Path

from ccmatic.base import InputError
from ccmatic.contracts import PACKETS, world
from ccmatic.worlds.runtime import compile_c, include_folder

#: NEVER is later than any instant of a run; ENDLESS is a buffer that never fills.
NEVER, ENDLESS = 2**63 - 1, 2**61

#: The numbers of `struct link_outcome`.
_OUTCOME = 4

_I64 = ctypes.c_int64
_KEEP = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, _I64)
_DRAW = ctypes.CFUNCTYPE(_I64, ctypes.c_void_p, _I64, _I64)


class _Parameters(ctypes.Structure):
    """The structure `link_parameters` of link.h."""

    _fields_ = (
        ("rates", ctypes.c_void_p),
        ("period", _I64),
        ("buffer", _I64),
        ("threshold", _I64),
        ("at_start", ctypes.c_int),
        ("jitter", _I64),
        ("step", _I64),
        ("variation", _I64 * 2),
        ("bucket", _I64),
        ("tokens", _I64 * 2),
        ("keep", _KEEP),
        ("draw", _DRAW),
        ("context", ctypes.c_void_p),
        ("own", ctypes.POINTER(_I64)),
    )


class Segment(ctypes.Structure):
    """The structure `link_rate` of link.h: the rate and the buffer from an instant on."""

    _fields_ = (("time", _I64), ("bytes", _I64), ("buffer", _I64), ("flush", _I64))


class Bottleneck:
    """The bottleneck link of a path, simulated packet by packet by the model's packets.h.

    `keep` returns whether the link keeps a token that no packet uses at an instant. `later` has the Segments of the
    rate after the first Segment, at most two. InputError if the link cannot handle changes that are known in advance.
    """

    def __init__(self, path, keep, rng, later=()):
        self._path, self._library = path, _library(world(path.model, PACKETS))
        self._keep = _KEEP(lambda context, now: bool(keep(now)))
        self._draw = _DRAW(lambda context, least, most: rng.randint(least, most))
        own = path.model.link_numbers(path.packet)
        self._own = (_I64 * (len(own) or 1))(*own)
        self._state = ctypes.create_string_buffer(self._library.packets_size())
        if later and not self._library.packets_changes():
            raise InputError(f"the link of {path.model.name} has no changes that are known in advance")
        self._library.packets_begin(
            *(self._state, ctypes.byref(self._parameters()), _I64(path.packet)),
            *((Segment * (len(later) or 1))(*later), _I64(len(later))),
        )
        weakref.finalize(self, self._library.packets_end, self._state)
        self._undecided = 0

    def offer(self, arrivals, end, flows=None):
        """Offer the packets of a step, which ends at instant `end`, to the link, in the order of arrival.

        Returns:
            For each packet, whether the link accepts it. Then the outcomes that have just become known, one for each
            accepted packet, in order: the instant of the drop (or NEVER), of the admission, of the generation of the
            packet's token, and whether the packet is marked.
        """
        count = len(arrivals)
        accepted = ctypes.create_string_buffer(max(count, 1))
        outcomes = (_I64 * (_OUTCOME * (self._undecided + count) or 1))()
        flows = (ctypes.c_int * count)(*flows or [0] * count)
        decided = self._library.packets_send(
            *(self._state, _I64(count), (_I64 * count)(*arrivals), flows),
            *(_I64(self._path.packet), _I64(end), accepted, outcomes),
        )
        taken = [byte != 0 for byte in accepted.raw[:count]]
        self._undecided += sum(taken) - decided
        return taken, _outcomes(outcomes, decided)

    def columns(self, now):
        """The model's own columns at an instant, in bytes by name."""
        names = [column.name for column in self._path.model.own_columns]
        values = (_I64 * (len(names) or 1))()
        count = self._library.packets_columns(self._state, _I64(now), values) if names else 0
        return dict(zip(names if count < 0 else names[:count], values, strict=False))

    def change(self, path, now, waiting, last):
        """Change the link's rate to that of another path, whose step must have the same number of ticks.

        `waiting` is the number of accepted packets that the link has not admitted by `now`, and `last` the instant of
        the latest admission. Return, as `offer` does, the outcomes of the waiting packets that the new rate determines;
        none of them is marked.
        """
        if not self._library.packets_change_rate():
            raise InputError(
                f"the rate of the link of {path.model.name} cannot change; its packets.h has no link_change"
            )
        self._path = path
        outcomes = (_I64 * (_OUTCOME * waiting or 1))()
        decided = self._library.packets_change(
            *(self._state, _I64(now), ctypes.byref(self._parameters()), _I64(path.packet)),
            *(_I64(waiting), _I64(last), outcomes),
        )
        self._undecided = waiting - decided
        return _outcomes(outcomes, decided)

    def _parameters(self):
        path = self._path
        bucket, share = path.model.policer or (0, 1)
        return _Parameters(
            period=path.ticks,
            buffer=ENDLESS if path.room is None else path.room * path.packet,
            threshold=NEVER if path.threshold is None else int(path.threshold),
            at_start=1,
            jitter=path.bound,
            step=path.step,
            variation=(_I64 * 2)(*Fraction(path.model.variation).as_integer_ratio()),
            bucket=int(bucket * path.bdp) * path.packet,
            tokens=(_I64 * 2)(*Fraction(share).as_integer_ratio()),
            keep=self._keep,
            draw=self._draw,
            own=self._own,
        )


def _outcomes(outcomes, count):
    numbers = outcomes[: _OUTCOME * count]
    return list(zip(*(numbers[part::_OUTCOME] for part in range(_OUTCOME)), strict=True))


@cache
def _library(header):
    with tempfile.TemporaryDirectory(prefix="ccmatic-") as folder:
        source, built = Path(__file__).with_name("packets.c"), Path(folder) / "packets.so"
        link = f'-DLINK="{header}"'
        compile_c(
            ["-std=gnu99", "-O2", "-shared", "-fPIC", f"-I{include_folder()}", link, "-o", str(built), str(source)]
        )
        library = ctypes.CDLL(str(built))
    library.packets_size.restype = library.packets_send.restype = library.packets_change.restype = _I64
    return library
