"""Networks that explain a log, the simplest first, and for each other network the first packet that rules it out."""

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from ccmatic import records
from ccmatic.base import InputError, counted, quantities
from ccmatic.fitting.fit import round_trip, seconds_of
from ccmatic.fitting.log import SECOND, PacketLog
from ccmatic.fitting.networks import NETWORKS, Limits, NetworkParameters, NotVisible, pauses
from ccmatic.fitting.rate_search import Undecided
from ccmatic.fitting.readers import read_log
from ccmatic.fitting.virtual_queue import all_dated, arrivals

#: The largest jitter of an explanation, as a share of R_m, unless a caller sets another.
JITTER = Fraction(1, 4)


@dataclass(frozen=True)
class Break:
    """The first packet that a network does not explain."""

    packet: int  #: The number of the packet in order of sending, from 1.
    line: int  #: The line of the packet in the file.
    law: str  #: The behaviour of the packet, in words, that no parameters of the network allow.


@dataclass(frozen=True)
class Explanation:
    """The answer for one network."""

    network: str  #: The name of the network.
    explains: bool | None  #: Whether the network explains every packet; None if the search did not decide.
    #: The NetworkParameters, if the network explains every packet; otherwise None.
    found: NetworkParameters | None = None
    breaks: Break | None = None  #: The Break, if the network does not explain every packet; otherwise None.
    #: The network as a text for `--on`; None if the network does not explain the log, or if `--on` cannot express it.
    on: str | None = None
    note: str = ""  #: A sentence about the answer, or an empty text.


@dataclass(frozen=True)
class Explanations:
    """A log, and the answer for each network, with the simplest network first."""

    log: PacketLog  #: The PacketLog.
    rtt: int  #: R_m in ns.
    jitter: int  #: The largest allowed jitter in ns.
    answers: tuple

    @property
    def explained(self):
        """Whether some network explains the log; None if no network does, but some network is undecided."""
        if any(answer.explains for answer in self.answers):
            return True
        return None if any(answer.explains is None for answer in self.answers) else False


def explain_log(
    log: str | Path,
    *,
    rtt: str | None = None,
    jitter: str | None = None,
    two_clocks: bool = False,
    received: str | Path | None = None,
) -> Explanations:
    """Find the networks that explain every packet of a log, the simplest first.

    Args:
        log: A packet log (docs/reference/formats.md) that has the sending time of every packet.
        rtt: R_m, such as "40ms". By default, the smallest delay in the log.
        jitter: The largest jitter of an explanation, such as "4ms" or "1/2rtt". By default, a quarter of R_m.
        two_clocks: Whether the clocks of sender and receiver differ by an unknown constant.
        received: The capture at the receiver. If `received` is given, `log` is the capture at the sender.

    Returns:
        The Explanations. The field `explained` is None if the search found no explanation and did not decide all
        networks.

    Raises:
        InputError: The log cannot be read, or lacks the sending time of a packet.

    Examples:
        >>> cm.explain_log("examples/logs/policed.csv").answers[2].on
    """
    return explain(read_log(str(log), two_clocks, received), seconds_of(rtt), jitter)


def explain(log, rtt=None, jitter=None):
    if not all_dated(log):
        raise InputError(
            "the log does not say when some packets were sent, and --explain requires it; expected a log with the "
            "time of sending of every packet",
            log.source,
        )
    step = round_trip(log, rtt)
    limits = Limits(_most_jitter(jitter, step), step, rtt is not None)
    packets, answers = arrivals(log), []
    for name, network in NETWORKS.items():
        special = next((each.network for each in answers if each.explains and each.network in network.special), None)
        if special:
            answers.append(Explanation(name, True, note=f"'{special}' is a special case of it"))
        else:
            answers.append(_answer(name, network, log, packets, limits))
    return Explanations(log, step, limits.jitter, tuple(answers))


def _most_jitter(text, rtt):
    """Return the largest jitter of an explanation in ns."""
    if text is None:
        return int(JITTER * rtt)
    rounds = quantities.in_unit(text, "rtt")
    return int(rounds * rtt if rounds is not None else quantities.duration(text) * SECOND)


def _answer(name, network, log, packets, limits):
    try:
        found = _explained(network, packets, limits)
    except Undecided:
        return Explanation(name, None, note="the search tried too many rates to decide")
    except NotVisible as reason:
        return Explanation(name, False, note=str(reason))
    if found:
        on = network.on(found, limits) if network.on else None
        return Explanation(name, True, found, on=on, note="" if on else network.note)
    broken = _first_break(network, log, packets, limits)
    return Explanation(name, False, breaks=broken, note="" if broken else "the search did not find the first packet")


def _first_break(network, log, packets, limits):
    """Return the Break of a network that does not explain the log; None if the search did not find it."""
    good, bad = 0, len(packets.at)
    try:
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if _explains(network, packets.first(middle), limits) else (good, middle)
        late = _explains(network, packets.first(bad), replace(limits, jitter=2**62))
    except Undecided:
        return None
    return Break(bad, int(log.line[bad - 1]), _law(network, packets.first(bad), limits, late))


def _law(network, packets, limits, late):
    """Return the behaviour of the last packet, in words, that a network does not allow."""
    if packets.marked[-1] == 1 and not network.marks:
        return "it has a mark (CE), and this network marks no packet"
    if network.sends_always and pauses(packets, limits.rtt):
        return "no packet is under way for more than R_m before it is sent"
    if late:
        return "it is delivered too late or too early for the allowed jitter"
    if packets.lost[-1]:
        return "it is lost, and a network that explains the packets before it accepts it"
    return "it is delivered, and a network that explains the packets before it does not deliver it then"


def _explained(network, packets, limits, **options):
    """Return the NetworkParameters with which a network explains packets and their marks, or None."""
    if not network.marks and (packets.marked == 1).any():
        return None
    return network.explain(packets, limits, **options)


def _explains(network, packets, limits):
    try:
        return packets.lost.all() or _explained(network, packets, limits, any_will_do=True) is not None
    except NotVisible:
        return True


# ---- the report ----

#: The words for parameters in the text, in order.
_WORDS = {
    "bits_per_second": "rate",
    "later_bits_per_second": "rate afterwards",
    "changes_at_seconds": "changes at",
    "outage_begins_seconds": "outage from",
    "outage_lasts_seconds": "outage of",
    "tokens_bits_per_second": "tokens",
    "buffer_bytes": "buffer",
    "bucket_bytes": "bucket",
    "threshold_bytes": "threshold",
    "lowest_bits_per_second": "lowest possible rate",
    "highest_bits_per_second": "highest possible rate",
    "share": "share",
    "burst_bytes": "burst",
    "pauses": "pauses",
    "longest_pause_seconds": "longest pause",
    "jitter_seconds": "jitter",
    "propagation_seconds": "propagation",
}


def explanation_lines(explanations):
    log = explanations.log
    for answer in explanations.answers:
        broken = answer.breaks
        yield records.ExplanationLine(
            log=log.source,
            packets=len(log.sent),
            lost=int(log.lost.sum()),
            rtt=explanations.rtt / SECOND,
            most_jitter=explanations.jitter / SECOND,
            network=answer.network,
            explains=answer.explains,
            on=answer.on,
            parameters=_parameters(answer),
            share_by_burst=[(each.burst, float(each.share)) for each in _front(answer.found)],
            packet=broken and broken.packet,
            line=broken and broken.line,
            law=broken and broken.law,
            note=answer.note,
        )


def _front(found):
    return found.parameters.get("front", ()) if found else ()


def _parameters(answer):
    """Return the parameters of an Explanation by name, with times in seconds."""
    found, store = answer.found, NETWORKS[answer.network].store
    if found is None:
        return {}
    values = {
        "bits_per_second": found.rate,
        f"{store}_bytes": found.size,
        "jitter_ns": found.jitter,
        "propagation_ns": found.propagation,
        **{name: value for name, value in found.parameters.items() if name != "front"},
    }
    return dict(_in_seconds(name, value) for name, value in values.items() if value is not None)


def _in_seconds(name, value):
    if name.endswith("_ns"):
        return f"{name.removesuffix('_ns')}_seconds", value / SECOND
    return name, float(value)


def explanation_text(explanations):
    """Return the report for people: the log, the networks that explain it, and the packets that rule out others."""
    log, answers = explanations.log, explanations.answers
    good = [answer for answer in answers if answer.explains]
    lines = [
        f"{log.source}: {counted(len(log.sent), 'packet')}, {int(log.lost.sum())} lost; R_m {_ms(explanations.rtt)}"
        f", jitter of at most {_ms(explanations.jitter)}"
    ]
    if good:
        lines.append("these networks explain every packet, the simplest first:")
    elif explanations.explained is None:
        lines.append("unknown whether a network explains the log")
    else:
        lines.append("no network explains the log")
    for answer in good:
        lines.append(f"  {answer.network}: {_words(answer) or answer.note}")
        if answer.found:
            lines.append(f"    --on '{answer.on}'" if answer.on else f"    {answer.note}")
    if len(good) < len(answers):
        lines += ["these do not:"] if good else []
        lines += [f"  {answer.network}: {_reason(answer)}" for answer in answers if not answer.explains]
    if explanations.explained is False:
        lines.append("try: a larger --jitter, or `fit` without --explain, which finds the smallest jitter")
    return "\n".join([*lines, *log.notes])


def _words(answer):
    values = _parameters(answer)
    return ", ".join(f"{word} {_value(name, values[name])}" for name, word in _WORDS.items() if name in values)


def _value(name, value):
    if name.endswith("_seconds"):
        return _ms(value * SECOND)
    if name.endswith("bits_per_second"):
        return f"{value / 1e6:.6g} Mbit/s"
    if name.endswith("_bytes"):
        return f"{value:.0f} bytes"
    return f"{value:.2%}" if name == "share" else f"{value:.0f}"


def _ms(ns):
    return f"{ns / 1e6:.4g} ms"


def _reason(answer):
    if answer.breaks is None:
        return answer.note
    return f"packet {answer.breaks.packet} (line {answer.breaks.line}): {answer.breaks.law}"
