"""Export traces at a concrete scale, for emulators and learners (docs/reference/export.md)."""

from pathlib import Path

from ccmatic import records
from ccmatic.base import InputError, located, quantities
from ccmatic.networks.trace_export import arrays, holds, mahimahi, schedule
from ccmatic.networks.trace_export.holds import Holds
from ccmatic.networks.trace_export.mahimahi import LATEST, OPPORTUNITY, Opportunities
from ccmatic.networks.trace_export.scaled import Scale, ScaledTrace
from ccmatic.networks.trace_export.schedule import Schedule
from ccmatic.networks.traces import Trace, read_trace
from ccmatic.records import TraceExportLine

_WRITERS = {
    "mahimahi": mahimahi.content,
    "schedule": schedule.content,
    "csv": arrays.csv_text,
    "json": arrays.json_text,
    "npz": arrays.npz_bytes,
}
FORMATS = (*_WRITERS, "holds")
__all__ = [
    "FORMATS",
    "LATEST",
    "OPPORTUNITY",
    "Holds",
    "Opportunities",
    "Scale",
    "Schedule",
    "answer",
    "export",
    "export_trace",
]


def export_trace(
    trace: Trace | str | Path,
    kind: str,
    *,
    rate: str,
    rtt: str,
    mss: int = 1500,
    lead: str = "0ms",
    allow_code: bool = False,
) -> tuple[bytes, list[str]]:
    """Convert a trace to the format of another tool, at a concrete scale.

    Args:
        trace: The trace, or its file.
        kind: The format: `mahimahi`, `schedule`, `holds`, `csv`, `json` or `npz`.
        rate: The trace's C, such as "24mbit".
        rtt: The trace's R_m, such as "40ms".
        mss: The size of a packet in bytes.
        lead: The time of silence, in whole milliseconds, before a link trace of mahimahi; a sender can fill the queue
            in this time.
        allow_code: Whether to run the file that the trace names as its model. Otherwise only shipped models are
            accepted.

    Returns:
        The content of the file to write, and notes. Each note is a sentence about a quantity that the format omits or
        rounds.

    Raises:
        InputError: If the trace cannot be exported to this format.

    Examples:
        >>> cm.export_trace("results/gallery/late_drain.json", "schedule", rate="24mbit", rtt="40ms")
    """
    file, trace = None if isinstance(trace, Trace) else str(trace), read_trace(trace)
    scale = Scale(quantities.rate(rate), quantities.duration(rtt), mss)
    silence = quantities.duration(lead) * 1000
    if silence.denominator != 1 or silence > LATEST:
        raise InputError(f"the lead is '{lead}'; expected whole ms, at most {LATEST}, such as 700ms")
    return export(trace, kind, scale, file, allow_code, int(silence))


def export(trace, kind, scale, file=None, allow_code=False, lead=0):
    """Do as `export_trace`, at a Scale, and with a lead in ms. `file` is the trace's file, for messages."""
    if lead and kind != "mahimahi":
        raise InputError(f"a lead is for mahimahi, whose clock starts before anything can send; '{kind}' takes none")
    with located(file):
        if kind == "holds":
            content, notes = holds.content(trace, scale, allow_code)
        else:
            scaled = ScaledTrace(trace, scale, allow_code)
            content, notes = _WRITERS[kind](scaled, lead) if lead else _WRITERS[kind](scaled)
    if trace.altered:
        notes = ["the trace was altered since it was saved; `ccmatic replay` says which laws it breaks", *notes]
    return content if isinstance(content, bytes) else content.encode(), notes


def answer(trace, kind, scale, file, notes):
    return records.line(
        TraceExportLine(str(trace), kind, str(file), scale.rate, scale.rtt, scale.packet, notes),
    )
