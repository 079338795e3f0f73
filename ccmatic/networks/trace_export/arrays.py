"""A trace as arrays with one element per step, for plots and machine learning: CSV, JSON and NumPy archives."""

import json
from dataclasses import dataclass
from fractions import Fraction
from io import BytesIO
from itertools import pairwise

from ccmatic.base import BYTES, CONDITION, NUMBER, RATE, TIME, InputError
from ccmatic.contracts import BEFORE_TIMEOUT

#: The suffix of an array's name, for each unit.
_SUFFIX = {BYTES: "_bytes", RATE: "_bytes_per_s", TIME: "_s", NUMBER: "", CONDITION: ""}

#: The arrays of each flow, if there are several flows: the trace's column, the array's name, the array's meaning.
_OF_A_FLOW = (
    ("A", "sent", "sent so far"),
    ("S", "served", "delivered so far"),
    ("L", "lost", "lost so far"),
    ("Ld", "detected_lost", "lost so far as the sender knows"),
)


@dataclass(frozen=True)
class Array:
    """One array of an exported trace.

    Attributes:
        name: The name of the array.
        meaning: The meaning of the values, in words.
        values: A Fraction for each t = 0 … horizon-1. If the quantity belongs to a step, value t is about the step that
            ends at t, and the first value is None.
    """

    name: str
    meaning: str
    values: tuple


def arrays(scaled):
    """Yield the Arrays of a ScaledTrace, as described in docs/reference/export.md."""
    A, S, L, K = (scaled.columns[name] for name in "ASLK")
    yield Array("time_s", "the end of the step", tuple(map(scaled.instant, range(scaled.trace.horizon))))
    yield Array("sent_bytes", "A, sent so far; S is 0 at t = 0", A)
    yield Array("admitted_bytes", "K, let through by the bottleneck so far, before jitter", K)
    yield Array("served_bytes", "S, delivered so far", S)
    yield Array("lost_bytes", "L, lost so far", L)
    if "Ld" in scaled.columns:
        yield Array("detected_lost_bytes", "Ld, lost so far as the sender knows", scaled.columns["Ld"])
    yield Array("arrivals_bytes", "sent within the step", _within(A))
    yield Array("capacity_bytes", "let through by the bottleneck within the step", _within(K))
    yield Array("service_bytes", "delivered within the step", _within(S))
    yield Array("loss_bytes", "lost within the step", _within(L))
    if "r" in scaled.trace.columns:
        yield Array("sending_rate_bytes_per_s", "r, over the step", _scaled(scaled, "r", RATE))
    queue = tuple(max(Fraction(0), sent - admitted) for sent, admitted in zip(scaled.through, K, strict=True))
    yield Array("queue_bytes", "A - L - K, waits at the bottleneck; 0 while tokens wait for bytes", queue)
    yield Array("inflight_bytes", "A - L - S, sent and neither lost nor delivered", scaled.inflight())
    yield Array("jitter_s", "how long the next byte to be delivered has been held after the bottleneck", _held(scaled))
    delays = scaled.model.measures if scaled.model.windows else ("Q", "F")
    for name, which in (("Q", "last"), ("F", "first")):
        if name in delays and name in scaled.trace.columns:
            meaning = f"{name}, least delay beyond R_m of the {which} byte delivered, by steps; the horizon: or more"
            yield Array(f"delay_of_{which}_s", meaning, _scaled(scaled, name, TIME))
    yield from _of_windows(scaled) if scaled.model.windows else ()
    yield from _declared(scaled)


def constants(scaled):
    """Return the scale and the trace's constants by name, as Fractions. None stands for an infinite buffer."""
    scale = scaled.scale
    return {
        "C_bytes_per_s": scale.rate,
        "R_m_s": scale.rtt,
        "D_s": scaled.jitter,
        "MSS_bytes": scaled.packet_limit,
        "packet_bytes": Fraction(scale.packet),
        "buffer_bytes": scaled.buffer,
        "initial_queue_bytes": scaled.queue,
    }


def csv_text(scaled):
    """Return a ScaledTrace as CSV, and notes: constants as comments, a header, and one row per step.

    The field of an unknown value is empty.
    """
    table = list(arrays(scaled))
    lines = [f"# {name} {_decimal(value, 'inf')}" for name, value in constants(scaled).items()]
    lines.append(",".join(array.name for array in table))
    for row in zip(*(array.values for array in table), strict=True):
        lines.append(",".join(_decimal(value, "") for value in row))
    return "\n".join(lines) + "\n", ["numbers that are not whole are rounded to floats; json keeps them exact"]


def json_text(scaled):
    """Return a ScaledTrace as JSON, and notes. The JSON has each number as a float and as an exact fraction.

    Unknown values and infinite buffers are null.
    """
    data = {
        "format": "ccmatic export 1",
        "query": scaled.trace.query,
        "broken": list(scaled.trace.broken),
        "controller": scaled.trace.controller,
        "horizon": scaled.trace.horizon,
        "constants": {name: _both(value) for name, value in constants(scaled).items()},
        "arrays": {
            array.name: {
                "meaning": array.meaning,
                "values": [None if value is None else _float(value) for value in array.values],
                "exact": [None if value is None else str(value) for value in array.values],
            }
            for array in arrays(scaled)
        },
    }
    return json.dumps(data, indent=1) + "\n", []


def npz_bytes(scaled):
    """Return a ScaledTrace as the bytes of an npz file, and notes.

    Arrays are float64 of shape (horizon,); constants have shape (). An unknown value is stored as NaN, and an infinite
    buffer as inf.
    """
    import numpy as np

    data = {array.name: [np.nan if v is None else _float(v) for v in array.values] for array in arrays(scaled)}
    data |= {name: np.inf if value is None else _float(value) for name, value in constants(scaled).items()}
    out = BytesIO()
    np.savez_compressed(out, **{name: np.array(value, np.float64) for name, value in data.items()})
    return out.getvalue(), ["numbers are rounded to floats; json keeps them exact"]


def _within(column):
    return (None, *(after - before for before, after in pairwise(column)))


def _held(scaled):
    """Return, for each t, the time since the network admitted the byte after S[t]; 0 if it was not admitted by t.

    The function assumes that K and A - L grow linearly within steps. Before the trace, they grow at the link's rate.
    """
    curves = scaled.columns["K"], scaled.through
    return tuple(min(_age(curve, t, S, scaled) for curve in curves) for t, S in enumerate(scaled.columns["S"]))


def _age(curve, t, level, scaled):
    """Return the seconds since the curve last had this level before t. The level is at most the curve's value at t."""
    for later in range(t, 0, -1):
        low, high = curve[later - 1], curve[later]
        if low <= level:
            within = (level - low) / (high - low) if high > level else 1
            return scaled.instant(t) - scaled.instant(later - 1 + within)
    return scaled.instant(t) + (curve[0] - level) / scaled.scale.rate


def _of_windows(scaled):
    """Yield the arrays of window-based senders: the columns of each flow (if several), windows, and state."""
    for number, flow in enumerate(scaled.flows, 1):
        for column, name, meaning in _OF_A_FLOW:
            if column in flow:
                yield Array(f"{name}{number}_bytes", f"{column}{number}, {meaning}, by flow {number}", flow[column])
        rates = _scaled(scaled, f"r{number}", RATE)
        yield Array(f"sending_rate{number}_bytes_per_s", f"r{number}, over the step, by flow {number}", rates)
    for suffix in scaled.suffixes:
        of = f" of flow {suffix}" if suffix else ""
        yield Array(f"cwnd{suffix}_bytes", f"the sender's window{of}", _scaled(scaled, f"cwnd{suffix}", BYTES))
    for name, unit in scaled.state.items():
        yield Array(f"state_{name}{_SUFFIX[unit]}", f"{name}, which the sender remembers", _scaled(scaled, name, unit))


def _declared(scaled):
    """Yield, at each t, the model's own columns and the beliefs of a rate-based sender, also before a timeout."""
    model = scaled.model
    meanings = {belief.name: (belief.unit, "a belief of the sender") for belief in model.beliefs}
    meanings |= {column.name: (column.unit, column.says) for column in model.own_columns}
    for name in scaled.trace.columns:
        if name in _described(scaled):
            continue
        unit, meaning = meanings.get(name.removesuffix(BEFORE_TIMEOUT), (None, None))
        if unit not in _SUFFIX:
            raise InputError(f"the trace has a column {name}, which the model {model.name} does not declare")
        yield Array(f"{name}{_SUFFIX[unit]}", meaning, _scaled(scaled, name, unit))


def _described(scaled):
    if not scaled.model.windows:
        return {"A", "S", "L", "Ld", "K", "r", "Q", "F"}
    of_flows = {f"{name}{suffix}" for name in ("A", "S", "L", "Ld", "r", "cwnd") for suffix in scaled.suffixes}
    return {*of_flows, *scaled.state, *scaled.model.measures}


def _scaled(scaled, name, unit):
    factor = {BYTES: scaled.byte, RATE: scaled.byte / scaled.step, TIME: scaled.step}.get(unit, 1)
    return tuple(value * factor for value in scaled.column(name))


def _both(value):
    return {"value": None if value is None else _float(value), "exact": "infinite" if value is None else str(value)}


def _decimal(value, unknown):
    if value is None:
        return unknown
    return str(value) if value.denominator == 1 else repr(_float(value))


def _float(value):
    try:
        return float(value)
    except OverflowError:
        raise InputError("the trace has a number too large for a float") from None
