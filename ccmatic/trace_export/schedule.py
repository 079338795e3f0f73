"""A trace as a schedule of the emulator: what is admitted and served by when, in whole bytes and nanoseconds."""

from fractions import Fraction
from math import floor

from ccmatic.base import InputError
from ccmatic.language import shipped_beliefs
from ccmatic.trace_export.scaled import number

_NS = Fraction(1, 10**9)


def content(scaled):
    """The schedule, and notes on what it rounds."""
    scale = scaled.scale
    if scale.rtt < _NS:
        raise InputError("a schedule counts nanoseconds; expected an rtt of 1 ns or more")
    head = {
        "ccmatic schedule": 1,
        "rate": scale.rate,
        "step": floor(scale.rtt / _NS),
        "packet": scale.packet,
        "buffer": "infinite" if scaled.buffer is None else floor(scaled.buffer),
        "queue": floor(scaled.queue),
        "lost": floor(scaled.columns["L"][-1] - scaled.columns["L"][0]),
        "beliefs": ",".join(f"{name}={value}" for name, value in _beliefs(scaled)) or "none",
    }
    lines = [f"# {key} {value}" for key, value in head.items()]
    lines.append("time_ns,admitted,served")
    for t, (admitted, served) in enumerate(zip(scaled.columns["K"], scaled.columns["S"], strict=True)):
        lines.append(f"{floor(scaled.instant(t) / _NS)},{floor(admitted)},{floor(served)}")
    return "\n".join(lines) + "\n", list(_notes(scaled))


def _beliefs(scaled):
    """Those of shipped models at t = 0, in whole bytes per step, bytes and steps."""
    for name, unit in shipped_beliefs().items():
        if name in scaled.trace.columns:
            yield name, floor(scaled.trace.columns[name][0] * scaled.byte**unit.bytes_power)


def _notes(scaled):
    scale = scaled.scale
    if (scale.rtt / _NS).denominator > 1:
        yield "instants are rounded down to whole nanoseconds"
    if scaled.packet_limit != scale.packet:
        yield (
            f"the trace's MSS is {number(scaled.packet_limit)} bytes at this scale, a packet is {scale.packet}: a "
            "controller that reads MSS, or sends at MSS/R_m, its least, will do otherwise than in the trace; "
            f"rate·rtt = {number(scale.packet / (scaled.packet_limit / scale.bdp))} bytes makes them the same"
        )
    if scaled.lossy():
        yield "losses are of whole packets, so after one up to a packet less may be there to serve than in the trace"
    yield "after the trace both curves go on at the link's rate"
