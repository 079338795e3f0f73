"""Export traces at a concrete scale, for emulators and learners (docs/reference/export.md)."""

from ccmatic import records
from ccmatic.base import InputError, located
from ccmatic.networks.trace_export import arrays, holds, mahimahi, schedule
from ccmatic.networks.trace_export.holds import Holds
from ccmatic.networks.trace_export.opportunities import LATEST, OPPORTUNITY, Opportunities
from ccmatic.networks.trace_export.scaled import Scale, ScaledTrace
from ccmatic.networks.trace_export.schedule import Schedule
from ccmatic.records import TraceExportLine

_WRITERS = {
    "mahimahi": mahimahi.content,
    "schedule": schedule.content,
    "csv": arrays.csv_text,
    "json": arrays.json_text,
    "npz": arrays.npz_bytes,
}
FORMATS = (*_WRITERS, "holds")
__all__ = ["FORMATS", "LATEST", "OPPORTUNITY", "Holds", "Opportunities", "Scale", "Schedule", "answer", "export"]


def export(trace, kind, scale, file=None, allow_code=False, lead=0):
    """Return a trace in an export format at a Scale.

    Args:
        trace: The Trace.
        kind: The format, one of FORMATS.
        scale: The Scale.
        file: The path of the trace's file, for error messages.
        allow_code: Whether the trace's model may be a file, whose code then runs, as in `definitions.load`.
        lead: The number of whole ms of silence before the trace begins, in a link trace; 0 in other formats.

    Returns:
        The bytes of the file, and notes. A note is a sentence about a quantity of the trace that the format omits or
        rounds.

    Raises:
        InputError: If the trace cannot be exported to this format.
    """
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
    """Return the output of the command as a line of JSON. Exact numbers are strings."""
    return records.line(
        TraceExportLine(str(trace), kind, str(file), scale.rate, scale.rtt, scale.packet, notes),
    )
