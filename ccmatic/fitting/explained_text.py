"""Report which networks explain a log, for people and as lines of JSON."""

from ccmatic import records
from ccmatic.base import counted
from ccmatic.fitting.explanations import NETWORKS
from ccmatic.fitting.log import SECOND

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
    """Yield the records.ExplanationLine of each network."""
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
