"""Export traces at a concrete scale, for emulators and learners (docs/reference/export.md)."""

from ccmatic import records
from ccmatic.base import InputError, located
from ccmatic.networks.trace_export import arrays, holds, mahimahi, schedule
from ccmatic.networks.trace_export.holds import Holds
from ccmatic.networks.trace_export.mahimahi import LATEST, OPPORTUNITY, Opportunities
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
    """Return the bytes of a trace's file in one of FORMATS at a Scale, and notes on what the format omits or rounds.

    `lead` is the whole ms of silence before the trace in a link trace. `file` names the trace in errors. `allow_code`
    is as in `definitions.load`, for a trace whose model is a file.
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
    return records.line(
        TraceExportLine(str(trace), kind, str(file), scale.rate, scale.rtt, scale.packet, notes),
    )
