"""Traces for others: a trace at a concrete scale, as what emulators replay and learners read (docs/export.md)."""

from ccmatic import records
from ccmatic.base import InputError, located
from ccmatic.records import TraceExportLine
from ccmatic.trace_export import arrays, holds, mahimahi, schedule
from ccmatic.trace_export.holds import Holds
from ccmatic.trace_export.opportunities import LATEST, OPPORTUNITY, Opportunities
from ccmatic.trace_export.scaled import Scale, Scaled
from ccmatic.trace_export.schedule import Schedule

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
    """The bytes of a trace in a format, one of FORMATS, at a Scale; and notes: what of the trace the format leaves out
    or rounds, a sentence each. Raises InputError, naming `file`, where the trace has no such export. allow_code: as
    in `definitions.load`, for the trace's model. lead: whole ms for which a link trace is silent before the trace
    begins, 0 in other formats."""
    if lead and kind != "mahimahi":
        raise InputError(f"a lead is for mahimahi, whose clock starts before anything can send; '{kind}' takes none")
    with located(file):
        if kind == "holds":
            content, notes = holds.content(trace, scale, allow_code)
        else:
            scaled = Scaled(trace, scale, allow_code)
            content, notes = _WRITERS[kind](scaled, lead) if lead else _WRITERS[kind](scaled)
    if trace.altered:
        notes = ["the trace was altered since it was saved; `ccmatic replay` says which laws it breaks", *notes]
    return content if isinstance(content, bytes) else content.encode(), notes


def answer(trace, kind, scale, file, notes):
    """What the command says of an export, as a line of JSON; exact numbers are strings."""
    return records.line(
        TraceExportLine(str(trace), kind, str(file), scale.rate, scale.rtt, scale.packet, notes),
    )
