"""The networks that may explain a log. A network has a few parameters, and laws that every packet has to obey.

docs/reference/fit.md states the laws ("Networks that explain a log"). The search decides all laws in whole numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf

import numpy as np

from ccmatic.base import counted, definitions
from ccmatic.contracts import Model, load_definition
from ccmatic.fitting.log import SECOND
from ccmatic.fitting.rate_search import Values, extreme_rate, least_jitter, smallest_rate
from ccmatic.fitting.virtual_queue import BYTE, Rates, queue, room, thresholds

#: The smallest packet that a network has to accept, in bytes: an emulated buffer is at least this large.
PACKET = 1500

#: Shares are whole multiples of 1/PARTS. An explanation loses at most the share MOST and a burst of BURST packets.
PARTS, MOST, BURST = 10_000, Fraction(1, 10), 10


@dataclass(frozen=True)
class NetworkParameters:
    """The parameters with which a network explains packets."""

    jitter: int  #: D in ns.
    propagation: int  #: The propagation delay in ns. With two clocks, it includes the offset between the clocks.
    rate: int  #: The rate in bit/s: of the bottleneck, or of a policer's tokens.
    size: int | None  #: The buffer or the bucket in bytes; None for an infinite buffer.
    #: Further parameters by name. Each name ends in the unit: bytes, bits_per_second, or ns.
    parameters: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Limits:
    jitter: int  #: The largest jitter in ns.
    rtt: int  #: R_m in ns.
    known: bool = False  #: Whether the user gave R_m. Otherwise R_m is the smallest delay in the log.


class NotVisible(Exception):
    """Raised if the log lacks the effects of a network, such as the losses of a policer, or marks."""


# ---- values of the laws at a rate ----


def _values(packets, rates):
    """Return the Values of a queue that a link with the given Rates serves."""
    formed = queue(packets, rates)
    held = (packets.delivered - formed.left)[~packets.lost]
    margin = -(-packets.at_once * BYTE // max(rates.bits))
    return Values(int(held.max()), int(held.min()), room(packets, formed.load), margin)


def _of_queue(found, **parameters):
    values = found.values
    return NetworkParameters(values.jitter, values.soonest, found.rate, values.room.smallest(PACKET), parameters)


# ---- the networks ----


def _constant_rate(packets, limits, any_will_do=False, hints=()):
    found = least_jitter(
        lambda rate: _values(packets, Rates((rate,))), limits.jitter, packets.early, hints, any_will_do
    )
    return found and _of_queue(found)


def _always_sending(packets, limits, any_will_do=False):
    if pauses(packets, limits.rtt):
        return None
    return _constant_rate(packets, limits, any_will_do)


def _pausing(packets, limits, any_will_do=False):
    found = _constant_rate(packets, limits, any_will_do)
    silent = pauses(packets, limits.rtt)
    return found and replace(found, parameters={"pauses": len(silent), "longest_pause_ns": max(silent, default=0)})


def pauses(packets, rtt):
    """Return the times in ns, each longer than R_m, in which no packet was in flight."""
    ended = np.maximum.accumulate(np.where(packets.lost, packets.at, packets.delivered))
    silent = packets.at[1:] - ended[:-1]
    return silent[silent > rtt].tolist()


def _marking(packets, limits, any_will_do=False):
    if not (packets.marked == 1).any():
        if any_will_do:
            return _constant_rate(packets, limits, any_will_do)
        raise NotVisible("no packet has a mark (CE), or the log does not state marks")

    def values_at(rate):
        formed = queue(packets, Rates((rate,)))
        return replace(_values(packets, Rates((rate,))), thresholds=thresholds(packets, formed.load))

    found = least_jitter(values_at, limits.jitter, packets.early, (), any_will_do)
    return found and _of_queue(found, threshold_bytes=found.values.thresholds.smallest(1))


def _policer(packets, limits, any_will_do=False):
    delays = packets.delays()
    jitter = int(delays.max() - delays.min())
    found = None if jitter > limits.jitter else _tokens(packets, any_will_do)
    return found and replace(found, jitter=jitter, propagation=int(delays.min()))


def _tokens(packets, any_will_do=False):
    """Return NetworkParameters for a policer's losses, without regard to delays; None if no policer explains them."""
    if not packets.lost.any():
        if any_will_do:
            return NetworkParameters(0, 0, 1, None)
        raise NotVisible("no packet is lost, so no policer shows")

    def values_at(rate):
        return Values(0, 0, room(packets, queue(packets, Rates((rate,))).load), 0)

    found = extreme_rate(values_at, largest=True)
    if found is None or any_will_do:
        return found and NetworkParameters(0, 0, found.rate, None)
    size = found.values.room.smallest(PACKET)
    lowest = extreme_rate(values_at, largest=False)
    others = {"lowest_bits_per_second": lowest.rate, "highest_bits_per_second": found.rate}
    return NetworkParameters(0, 0, smallest_rate(values_at, size, found.rate), size, others)


def _policer_before_bottleneck(packets, limits, any_will_do=False):
    found = _constant_rate(packets.without_losses(), limits, any_will_do)
    tokens = found and _tokens(packets, any_will_do)
    return tokens and replace(
        found, parameters={"bucket_bytes": tokens.size, "tokens_bits_per_second": tokens.rate, **tokens.parameters}
    )


def _outage(packets, limits, any_will_do=False):
    if any_will_do and (found := _constant_rate(packets, limits, True)):
        return found
    best = None
    for gap in _gaps(packets, limits):
        best = _better(best, _outage_at(packets, limits, gap, any_will_do))
        if best and any_will_do:
            break
    return best


def _gaps(packets, limits):
    """Return the longest times without a delivery, the longest first, as indices of delivered packets."""
    kept = packets.without_losses()
    between = np.diff(kept.delivered)
    return [int(place) for place in np.argsort(-between, kind="stable")[:_GAPS] if between[place] > limits.jitter]


#: Two limits of the search. The outage is one of this many longest times without a delivery. The rate changes at most 2
#: to the power of this number of packets before the first unexplained packet.
_GAPS, _CHANGES = 2, 9


def _outage_at(packets, limits, gap, any_will_do):
    """Return the NetworkParameters of an outage between two consecutive deliveries, or None."""
    kept = packets.without_losses()
    before = packets.first(int(np.flatnonzero(~packets.lost)[gap]) + 1)
    first = _constant_rate(before, limits)
    if first is None:
        return None
    own = -(-int(kept.size[gap + 1]) * 8 * SECOND // first.rate)
    starts, ends = (int(at) - first.propagation for at in (kept.delivered[gap], kept.delivered[gap + 1] - own))
    if not 0 < starts < ends:
        return None
    found = least_jitter(
        lambda rate: _values(packets, Rates((rate, 0, rate), (starts, ends))),
        limits.jitter, packets.early, (first.rate,), any_will_do,
    )  # fmt: skip
    return found and _of_queue(found, outage_begins_ns=starts, outage_lasts_ns=ends - starts)


def _change_of_rate(packets, limits, any_will_do=False):
    if any_will_do and (found := _constant_rate(packets, limits, True)):
        return found
    turn = int((~packets.first(_first_unexplained(packets, limits)).lost).sum())
    best, place = None, turn
    for step in (2**power for power in reversed(range(_CHANGES))):
        for count in (place - step, place + step):
            if 0 < count < turn and (found := _change_at(packets, limits, count, any_will_do)):
                if any_will_do:
                    return found
                best, place = min((best, place), (found, count), key=lambda each: each[0].jitter if each[0] else inf)
    return best


def _first_unexplained(packets, limits):
    """Return the number of packets that a constant rate explains."""
    good, bad, hints = 0, len(packets.at), ()
    while bad - good > 1:
        middle = (good + bad) // 2
        part = packets.first(middle)
        found = None if part.lost.all() else _constant_rate(part, limits, True, hints)
        if part.lost.all() or found:
            good, hints = middle, (found.rate,) if found else hints
        else:
            bad = middle
    return good


def _change_at(packets, limits, count, any_will_do):
    """Return the NetworkParameters of a rate that changes after this number of packets has left the link, or None."""
    kept = np.flatnonzero(~packets.lost)
    first = _constant_rate(packets.first(int(kept[count - 1]) + 1), limits)
    at = first and int(packets.delivered[kept[count - 1]]) - first.propagation
    if not first or at <= 0:
        return None
    found = least_jitter(
        lambda rate: _values(packets, Rates((first.rate, rate), (at,))),
        limits.jitter, packets.early, (), any_will_do,
    )  # fmt: skip
    return found and replace(_of_queue(found, changes_at_ns=at, later_bits_per_second=found.rate), rate=first.rate)


def _better(one, other):
    return min((each for each in (one, other) if each), key=lambda each: each.jitter, default=None)


def _random_loss(packets, limits, any_will_do=False):
    found = _constant_rate(packets.without_losses(), limits, any_will_do)
    if not found or (any_will_do and not packets.lost.any()):
        return found
    if not packets.lost.any():
        raise NotVisible("no packet is lost")
    if any_will_do:
        return found if _loses_few(packets.size, packets.lost) else None
    front = front_of_losses(packets.size, packets.lost)
    chosen = _chosen(front, packets.size, packets.lost)
    return chosen and replace(
        found, parameters={"share": chosen.share, "burst_bytes": chosen.burst, "front": tuple(front)}
    )


# ---- random loss ----


@dataclass(frozen=True)
class RandomLoss:
    """A bound on losses: of the bytes sent in any interval, at most share · bytes + burst are lost."""

    share: Fraction  #: The share of bytes that may be lost, a multiple of 1/PARTS.
    burst: int  #: The number of further bytes that may be lost.


def front_of_losses(size, lost):
    """Return the RandomLosses that explain a log's losses: the smallest share for each burst of whole packets."""
    packet = int(size.max())
    found = [RandomLoss(_least_share(size, lost, count * packet), count * packet) for count in range(1, BURST + 1)]
    return [
        each for each, before in zip(found, [None, *found], strict=False) if before is None or each.share < before.share
    ]


def _loses_few(size, lost):
    """Return whether random loss within the limits explains the losses."""
    return burst_of_losses(size, lost, MOST) <= BURST * int(size.max())


def _chosen(front, size, lost):
    """Return the RandomLoss that represents a front of RandomLosses; None if all shares of the front are above MOST.

    The result has the smallest burst whose share is at most twice the share of the lost bytes. Without such a burst,
    the result has the largest burst.
    """
    allowed = min(MOST, 2 * Fraction(int(size[lost].sum()), int(size.sum())) + Fraction(1, PARTS))
    some = [each for each in front if each.share <= allowed] or front[-1:]
    return some[0] if some[0].share <= MOST else None


def burst_of_losses(size, lost, share):
    """Return the smallest burst, as a Fraction in bytes, that explains the losses with the given share."""
    excess = np.cumsum(np.where(lost, size, 0) * share.denominator - size * share.numerator)
    before = np.minimum.accumulate(np.concatenate(([0], excess[:-1])))
    return Fraction(max(0, int((excess - before).max())), share.denominator)


def _least_share(size, lost, most):
    """Return the smallest share whose burst is at most `most` bytes."""
    low, high = -1, PARTS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if burst_of_losses(size, lost, Fraction(middle, PARTS)) <= most else (middle, high)
    return Fraction(high, PARTS)


# ---- networks as `--on` takes them ----


def _on_queue(found, limits, role="QUEUES", *, before="", sizes="", after=""):
    """Return the text of a network of the model with a role, with further texts around its buffer or bucket."""
    model = load_definition("models", "MODEL", definitions.chosen("models", role))
    path = f"{model.name} {_decimal(found.rate, 6)} mbit, rtt {_decimal(_rtt(found, limits), 6)} ms"
    jitter = f", jitter {_decimal(-(-found.jitter // 1000), 3)} ms" if found.jitter else ""
    return f"{path}{before}, {model.store} {found.size} b{sizes}{jitter}{after}"


def _on_pausing(found, limits):
    return _on_queue(found, limits, after=", application pauses")


def _on_marking(found, limits):
    return _on_queue(found, limits, "MARKS", sizes=f", threshold {found.parameters['threshold_bytes']} b")


def _on_outage(found, limits):
    begins, lasts = (_decimal(found.parameters[f"outage_{name}_ns"], 6) for name in ("begins", "lasts"))
    return _on_queue(found, limits, after=f", outage {lasts} ms, at {begins} ms")


def _on_change(found, limits):
    factor = Fraction(found.parameters["later_bits_per_second"], found.rate)
    at = _decimal(found.parameters["changes_at_ns"], 6)
    return _on_queue(found, limits, after=f", change rate x{factor}, at {at} ms")


def _on_policer(found, limits):
    return _on_queue(found, limits, "POLICES")


def _on_policed(found, limits):
    """Return the text of a policer in front of a bottleneck; None if tokens come faster than the link serves."""
    share = Fraction(found.parameters["tokens_bits_per_second"], found.rate)
    if share > 1:
        return None
    bucket = Fraction(found.parameters["bucket_bytes"] * BYTE, found.rate * _rtt(found, limits))
    return _on_queue(found, limits, "POLICED", before=f", tokens={share}, bucket={bucket}")


def _on_lossy(found, limits):
    """Return the text of a link that loses bytes by chance. Its share and burst are at least those of the log."""
    share = _decimal(max(1, int(found.parameters["share"] * PARTS)), 2)
    burst = -(-found.parameters["burst_bytes"] // PACKET)
    return _on_queue(found, limits, "LOSSY", sizes=f", loss {share}%, burst {counted(burst, 'packet')}")


def _rtt(found, limits):
    """Return R_m of a network in ns."""
    return limits.rtt if limits.known or found.propagation <= 0 else found.propagation


def _decimal(number, places):
    """Return number · 10^-places in exact digits."""
    whole, rest = divmod(number, 10**places)
    return f"{whole}.{rest:0{places}d}".rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Network:
    #: A function from Arrivals and Limits to NetworkParameters, or None. With `any_will_do`, it may return any suitable
    #: parameters.
    explain: Callable
    #: A function from NetworkParameters and Limits to the network as a text for `--on`; None if `--on` cannot express
    #: the network.
    on: Callable | None = None
    note: str = ""  #: The reason why `--on` cannot express the network, if any.
    special: tuple = ()  #: The names of the networks that are special cases of this one.
    sends_always: bool = False  #: Whether the network explains only logs of senders that never pause.
    store: str = Model.store  #: The noun for the field `size` of NetworkParameters.
    marks: bool = False  #: Whether the network marks packets.


_CONSTANT, _PAUSES, _POLICER = "constant rate", "constant rate, pausing sender", "token-bucket policer"

#: The networks by name, in the order of simplicity: fewer parts first, and random loss, which explains most, last.
NETWORKS = {
    _CONSTANT: Network(_always_sending, _on_queue, sends_always=True),
    _PAUSES: Network(_pausing, _on_pausing, special=(_CONSTANT,)),
    _POLICER: Network(_policer, _on_policer, store="bucket"),
    "marks above a threshold": Network(_marking, _on_marking, special=(_CONSTANT, _PAUSES), marks=True),
    "outage": Network(_outage, _on_outage, special=(_CONSTANT, _PAUSES)),
    "change of rate": Network(_change_of_rate, _on_change, special=(_CONSTANT, _PAUSES)),
    "policer before a bottleneck": Network(
        _policer_before_bottleneck, _on_policed, "--on has no tokens that are faster than the link", (_POLICER,)
    ),
    "random loss": Network(_random_loss, _on_lossy),
}
