"""The check of events in a run file before the search uses them. The file may come from an untrusted source."""

from dataclasses import replace

from ccmatic.answers import verification
from ccmatic.base import InputError
from ccmatic.networks.traces import Trace
from ccmatic.synthesis import run_file as store


def confirmed(query, event):
    """Check an event, and return the trace of a counterexample, or None for other events.

    A replay confirms the trace. The trace has every belief that candidates may read.

    Raises:
        InputError: If the event does not prove its claim. The message states the reason.
    """
    if event.kind not in (store.SOLUTION, store.COUNTEREXAMPLE, store.SKIPPED, store.UNDECIDED, store.PROVED):
        expected = "a solution, a counterexample, skipped, undecided or proved"
        raise InputError(f"expected {expected}, not {event.kind!r:.40}")
    if event.kind != store.PROVED:
        _check_source(query, event)
    return _counterexample(query, event) if event.kind == store.COUNTEREXAMPLE else None


def _check_source(query, event):
    """Raise InputError unless the event's candidate belongs to the template and has the event's source."""
    if not isinstance(event.source, str):
        raise InputError("it has no source")
    stated = query.read_controller(event.source)
    candidate = query.read_controller(query.template.candidate(event.candidate))
    if replace(stated, source=candidate.source) != candidate:
        raise InputError(f"its source is not that of its candidate, {list(event.candidate)}")


def _counterexample(query, event):
    """Return the trace if a replay confirms it as an execution of the query's network that violates the property."""
    if not isinstance(event.trace, str):
        raise InputError("it has no trace")
    trace = Trace.from_json(event.trace)
    if trace.query != query.record():
        raise InputError("it is a trace of another query")
    if trace.controller not in (None, event.source):
        raise InputError("it is a trace of another controller")
    if event.way not in {way.name for way in query.property.ways_to_fail(query.model, query.buffer)}:
        raise InputError(f"the property has no way to fail '{event.way}'")
    trace = verification.complete(query, trace)
    report = verification.check_trace(query, trace)
    if report.faults:
        raise InputError(f"it breaks {report.faults[0]}")
    if report.outcome is not verification.Outcome.BREAKS:
        raise InputError(report.reason or "the property holds on it")
    beliefs = {belief.name for belief in query.model.beliefs}
    unread = sorted((query.template.names & beliefs) - trace.columns.keys())
    if unread and trace.controller is not None:
        raise InputError(f"it lacks {', '.join(unread)}, which candidates read")
    return trace


def named(event):
    article = "an" if event.kind == store.UNDECIDED else "a"
    return f"event {event.number}, {article} {event.kind}{' candidate' if event.kind == store.SKIPPED else ''}"
