"""The link of the formats `schedule` and `mahimahi`: one FIFO queue for all flows, which drops excess bytes."""

from math import ceil

from ccmatic.base import InputError
from ccmatic.contracts import Model
from ccmatic.networks.trace_export.scaled import number


def require(scaled):
    """Raise InputError, with the reason, unless such a link can reproduce a ScaledTrace."""
    buffer, packet = scaled.buffer, scaled.scale.packet
    if scaled.model.store != Model.store:
        raise InputError(
            f"this format's link has a {Model.store}, and {scaled.model.name} has a {scaled.model.store}; expected a "
            "trace of another network, or the format csv, json or npz"
        )
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
            f"this format's link drops bytes that its buffer cannot hold; more waits than the buffer holds at t={t}"
        )
    if t and L[t] > L[t - 1] and through[t] < K[t - 1] + scaled.buffer:
        raise InputError(
            "this format's link drops only bytes that its buffer cannot hold; bytes are lost though the buffer has "
            f"room at all times in the step that ends at t={t}"
        )


def _require_order(scaled, t):
    """Raise InputError unless the link serves the bytes of each flow in the order of their arrival."""
    left = scaled.columns["S"][t]
    for u, came in enumerate(scaled.through):
        for flow in scaled.flows:
            own_left, own_came = flow["S"][t], flow["A"][u] - flow["L"][u]
            if (left <= came and own_left > own_came) or (left >= came and own_left < own_came):
                raise InputError(
                    f"this format's link is first in, first out; the flows' bytes served by t={t} are not those that "
                    "came first; `--format holds` delays each flow by itself"
                )
