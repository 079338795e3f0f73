"""The functions of a synthesis's worker processes: they verify candidates and rule out ways to fail."""

import threading
from dataclasses import replace

from ccmatic.answers.verification import Verifier
from ccmatic.controllers import Controller
from ccmatic.logic import Environment
from ccmatic.questions import query as queries

_kept = threading.local()


def verify(record, reads, sample, options, proved, source, name):
    """Return the verdict on the controller with this source.

    The verdict does not contain the controller, because processes cannot exchange controllers. Each thread keeps the
    verifier of a query for its next call. `sample` is the source of any controller with the same state variables.
    """
    kept = _keep(record, reads, sample, options, proved)
    with kept.environment:
        controller = kept.verifier.query.read_controller(source, name)
        refuted = kept.verifier.refute_branch(controller) if isinstance(controller, Controller) else None
        return replace(refuted or kept.verifier.verify(controller), controller=None)


def prove(record, reads, sample, options):
    kept = _keep(record, reads, sample, options)
    with kept.environment:
        return kept.verifier.prove()


def _keep(record, reads, sample, options, proved=()):
    """Return the objects that this thread keeps: a verifier, and the environment of the verifier's formulas."""
    key = record, reads, sample, options, proved
    if getattr(_kept, "key", None) != key:
        environment = Environment()
        with environment:
            query = queries.from_record(record, allow_code=True)
            verifier = Verifier(query, reads, options, proved, query.read_controller(sample).state, many=True)
        _kept.environment, _kept.verifier, _kept.key = environment, verifier, key
    return _kept
