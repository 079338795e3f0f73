"""What `schedule` and `mahimahi` have in common: one link with a buffer that drops what does not fit, first in, first
out for all flows."""

from math import ceil

from ccmatic.base import InputError
from ccmatic.trace_export.scaled import number


def require(scaled):
    """Raise InputError, with the reason, unless such a link can carry packets as a Scaled trace says."""
    buffer, packet = scaled.buffer, scaled.scale.packet
    for t in range(scaled.trace.horizon) if buffer is not None else ():
        _require_buffer(scaled, t)
    for t in range(scaled.trace.horizon):
        _require_order(scaled, t)
    if buffer == 0:
        raise InputError("the trace's buffer is 0; expected room for a packet, as this format is of packets")
    if buffer is not None and buffer < packet:
        raise InputError(
            f"at this scale the buffer is {number(buffer)} bytes, less than a packet of {packet}; "
            f"expected rate·rtt to be {ceil(scaled.scale.bdp * packet / buffer)} bytes or more"
        )


def _require_buffer(scaled, t):
    K, L, through = scaled.columns["K"], scaled.columns["L"], scaled.through
    if through[t] > K[t] + scaled.buffer:
        raise InputError(
            f"this format's link drops what its buffer does not hold; more waits than the buffer holds at t={t}"
        )
    if t and L[t] > L[t - 1] and through[t] < K[t - 1] + scaled.buffer:
        raise InputError(
            "this format's link drops only what its buffer does not hold; bytes are lost though the buffer has room "
            f"at all times in the step that ends at t={t}"
        )


def _require_order(scaled, t):
    """What has left by t is, of each flow, what came first: by each u."""
    left = scaled.columns["S"][t]
    for u, came in enumerate(scaled.through):
        for flow in scaled.flows:
            own_left, own_came = flow["S"][t], flow["A"][u] - flow["L"][u]
            if (left <= came and own_left > own_came) or (left >= came and own_left < own_came):
                raise InputError(
                    f"this format's link is first in, first out; the flows' bytes served by t={t} are not those that "
                    "came first; `--format holds` is of flows that are each delayed by themselves"
                )
