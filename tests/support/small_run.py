"""A tiny run of synthesis whose candidates the verifier can all decide, and copies of it with other events."""

import json
import sqlite3
from dataclasses import astuple, replace
from itertools import product

from ccmatic.templates import two_branches

from ccmatic import controllers as cca
from ccmatic.answers.verification.verifier import HOLDS, Verifier
from ccmatic.base import InputError
from ccmatic.contracts.template import Branch, linear_forms
from ccmatic.networks.traces.trace import Trace
from ccmatic.questions import query as queries
from ccmatic.synthesis import cegis, cover
from ccmatic.synthesis import run_file as store

RATE = linear_forms({"C_L": (0, "1/2", 2)})
CONDITION = linear_forms({"qdel_L": (0, 1, -1), "R_m": (0, 1)}) + linear_forms({"C_L": (2,), "C_U": (-1,)})
TEMPLATE = Branch(CONDITION, RATE, RATE)


def use(patch):
    """Have data files find the small template, under a shipped name."""
    patch.setattr(two_branches, "TEMPLATE", TEMPLATE)


def query():
    """Return the query of the run. Its template must be in use."""
    return queries.make("ccac", "infinite", 5, template="two_branches", name="small")


def make(path):
    """An honest run, and its events."""
    kept = store.Store(path, query())
    list(cegis.search(query(), store=kept))
    kept.close()
    return store.read_run(path)[1]


def copy(path, target, events, **about):
    """A copy of a run with these events in place of its own."""
    with sqlite3.connect(path) as old:
        header = dict(old.execute("SELECT key, value FROM about")) | about
    target.unlink(missing_ok=True)
    with sqlite3.connect(target) as new:
        new.execute("PRAGMA synchronous = OFF")
        for statement in filter(str.strip, store._TABLES.split(";")):
            new.execute(statement)
        new.executemany("INSERT INTO about VALUES (?, ?)", header.items())
        for event in events:
            kind, candidate, *rest = astuple(event)
            new.execute(
                "INSERT INTO events (kind, candidate, source, way, trace, seconds, number) VALUES "
                "(?, ?, ?, ?, ?, ?, ?)",
                (kind, json.dumps(candidate), *rest),
            )
    return target


def source(candidate):
    """Return the source that a run records for a candidate."""
    return TEMPLATE.source(TEMPLATE.forms(candidate), "Found by ccmatic for small.")


def resaved(trace, **changes):
    """The JSON of a trace with these changes, its digest right; the trace as it is if it can no longer be read."""
    try:
        return replace(Trace.from_json(trace), **changes).to_json()
    except InputError:
        return trace


def kind(candidate):
    """The class of a candidate."""
    return tuple(form.beliefs for form in TEMPLATE.forms(candidate))


def holders(asked):
    """The candidates that hold, by asking the verifier each."""
    units = asked.units()
    verifier = Verifier(asked, TEMPLATE.names & units.keys())
    everyone = product(*(range(len(hole)) for hole in TEMPLATE.holes()))
    return frozenset(
        candidate
        for candidate in everyone
        if verifier.verify(cca.parse(source(candidate), beliefs=units)).verdict == HOLDS
    )


def check(path, verify=False):
    """The cover's report."""
    return cover.check_cover(path, verify_solutions=verify)
