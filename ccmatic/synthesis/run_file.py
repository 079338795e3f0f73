"""The file of a synthesis run. It is one SQLite database, from which an interrupted run can resume."""

import fcntl
import json
import re
import sqlite3
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ccmatic import __version__, records
from ccmatic.answers import verification
from ccmatic.base import LARGEST, InputError, Unreadable, located, opened, parse_json
from ccmatic.networks.traces import Trace
from ccmatic.records import QueryRecord, RunAbout, RunEvent

_COLUMNS = ("kind", "candidate", "source", "way", "trace", "seconds", "number")

SOLUTION, COUNTEREXAMPLE, UNDECIDED, PROVED = "solution", "counterexample", "undecided", "proved"

#: The kind of an event about a candidate without executions that satisfy what the property assumes.
SKIPPED = "skipped"

#: A pattern for tables with computed columns. If ccmatic read such a table, SQLite would run expressions from the
#: untrusted file.
_COMPUTED = re.compile(r"\b(AS|GENERATED)\b", re.IGNORECASE)

_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE events (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL, candidate TEXT, source TEXT, way TEXT, trace TEXT,
    seconds REAL NOT NULL
);
"""


@dataclass(frozen=True)
class Event:
    """One result of a run.

    Attributes:
        kind: SOLUTION, COUNTEREXAMPLE, SKIPPED, UNDECIDED or PROVED.
        candidate: For each hole, the index of the chosen form.
        source: The candidate's Python source.
        way: The way in which a counterexample fails, or which is impossible for all controllers.
        trace: The counterexample, as JSON text.
        seconds: The time of the verification.
        number: The position in the run; None before the event is stored.
    """

    kind: str
    candidate: tuple = ()
    source: str | None = None
    way: str | None = None
    trace: str | None = None
    seconds: float = 0.0
    number: int | None = None


class Store:
    """A run file, new or existing.

    When `add` returns, its event is on disk. Only one process at a time may write the file; other processes may read
    it.
    """

    def __init__(self, path, query):
        self.path = Path(path)
        self._lock = _lock(self.path)
        with _reported(self.path):
            self._database = _open(self.path, create=True)
            self._claim(query)

    def events(self):
        with _reported(self.path):
            return _events(self._database)

    def add(self, event):
        row = (event.kind, json.dumps(event.candidate), event.source, event.way, event.trace, event.seconds)
        columns = ", ".join(_COLUMNS[:-1])
        with _reported(self.path), self._database:
            self._database.execute(f"INSERT INTO events ({columns}) VALUES (?, ?, ?, ?, ?, ?)", row)

    def finish(self):
        """Record that the run is complete, and how many events it has."""
        with _reported(self.path), self._database:
            self._database.execute("INSERT OR REPLACE INTO about SELECT 'finished', CAST(COUNT(*) AS TEXT) FROM events")

    def close(self):
        """Release the file to other processes."""
        self._database.close()
        self._lock.close()

    def _claim(self, query):
        """Set up a new file for this query, or check that the file belongs to this query."""
        record = records.convert(query.search(), QueryRecord)
        wanted = records.data(RunAbout(version=__version__, name=query.name, query=record))
        rows = {**wanted, "query": json.dumps(wanted["query"], sort_keys=True)}
        with self._database:
            self._database.execute("BEGIN EXCLUSIVE")
            if not self._database.execute("SELECT name FROM sqlite_master").fetchall():
                for statement in filter(str.strip, _TABLES.split(";")):
                    self._database.execute(statement)
                self._database.executemany("INSERT INTO about VALUES (?, ?)", rows.items())
        about = _about(self._database, self.path)
        difference = _difference(records.data(about.query), wanted["query"])
        if difference:
            raise InputError(f"the run is of another query: {difference}", str(self.path))


def read_run(run: str | Path) -> tuple[RunAbout, list[Event]]:
    """Read the counterexamples and decisions that a run of synthesis has saved so far.

    Args:
        run: The file that `synthesise` received as its run.

    Returns:
        The run's RunAbout, and its Events in order. An event is a counterexample or a decided candidate.

    Raises:
        InputError: If the file is no run.
    """
    path = Path(run)
    with opened(path), _reported(path):
        database = _open(path, create=False)
        about = _about(database, path)
        events = _events(database)
        database.close()
    return about, events


def _open(path, create):
    mode = "rwc" if create else "ro"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    database = sqlite3.connect(uri, uri=True, timeout=5, isolation_level=None)
    # The file may come from an untrusted source. Its schema must not call functions, and no value may exhaust memory.
    database.execute("PRAGMA trusted_schema = OFF")
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST)
    return database


def _lock(path):
    """Lock the file until the process ends. Other processes may still read the locked file."""
    try:
        if path.exists():
            with opened(path):
                pass
        file = path.open("ab")
    except OSError as error:
        raise Unreadable(f"cannot use the run file: {error.strerror}", str(path)) from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise Unreadable("cannot use the run file: another process is using it", str(path)) from None
    return file


def _events(database):
    columns = ", ".join(_COLUMNS)
    rows = database.execute(f"SELECT {columns} FROM events ORDER BY number")
    return [_event(dict(zip(_COLUMNS, row, strict=True))) for row in rows]


def _event(row):
    if isinstance(row["candidate"], str):
        row = {**row, "candidate": parse_json(row["candidate"])}
    read = records.convert(row, RunEvent, what=f"event {row['number']}")
    return Event(read.kind, tuple(read.candidate), read.source, read.way, read.trace, read.seconds, read.number)


def _about(database, path):
    statements = database.execute("SELECT type, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    plain = {statement.split("(")[0].strip() for statement in _TABLES.split(";") if statement.strip()}
    for kind, sql in statements:
        if kind != "table" or sql.split("(")[0].strip() not in plain or _COMPUTED.search(sql):
            raise InputError(f"not a run of ccmatic: it has a {kind} of its own", str(path))
    try:
        about = dict(database.execute("SELECT key, value FROM about"))
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            raise InputError("not a run of ccmatic: a database of something else", str(path)) from None
        raise
    records.require_format(about, RunAbout)
    if isinstance(about.get("query"), str):
        about["query"] = parse_json(about["query"])
    return records.convert(about, RunAbout, what="not a run of ccmatic")


def _difference(theirs, ours, prefix=""):
    """Return the first key in which two queries differ, in words; None if the queries agree."""
    for key in sorted({*theirs, *ours}):
        there, here = theirs.get(key), ours.get(key)
        if there == here:
            continue
        if isinstance(there, dict) and isinstance(here, dict):
            return _difference(there, here, f"{prefix}{key}.")
        if key.endswith("_digest"):
            return f"its {key.removesuffix('_digest')} had another text; expected another file"
        return f"its {prefix}{key} is {there}, this one's is {here}"
    return None


@contextmanager
def _reported(path):
    """Turn errors of SQLite, and errors in stored data, into messages about the file."""
    try:
        with located(str(path)):
            yield
    except sqlite3.OperationalError as error:
        raise Unreadable(f"cannot use the run file: {error}", str(path)) from None
    except sqlite3.DatabaseError as error:
        raise InputError(f"not a run of ccmatic: {error}", str(path)) from None


def confirmed(query, event):
    """Check an event, and return the trace of a counterexample, or None for other events.

    A replay confirms the trace. The trace has every belief that candidates may read. Raise InputError if the event does
    not prove its claim.
    """
    if event.kind not in (SOLUTION, COUNTEREXAMPLE, SKIPPED, UNDECIDED, PROVED):
        expected = "a solution, a counterexample, skipped, undecided or proved"
        raise InputError(f"expected {expected}, not {event.kind!r:.40}")
    if event.kind != PROVED:
        _check_source(query, event)
    return _counterexample(query, event) if event.kind == COUNTEREXAMPLE else None


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
    article = "an" if event.kind == UNDECIDED else "a"
    return f"event {event.number}, {article} {event.kind}{' candidate' if event.kind == SKIPPED else ''}"
