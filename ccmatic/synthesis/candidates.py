"""What a worker does for a synthesis: it verifies candidates, and rules out ways to fail."""

import threading
from dataclasses import replace

from ccmatic import query as queries
from ccmatic.logic import Environment
from ccmatic.verification import Verifier

_kept = threading.local()


def verify(record, reads, sample, options, proved, source, name):
    """The verdict on a controller's source, without the controller, which whoever asks has, and which may not travel
    between processes. A thread keeps the verifier of a query for the next call.

    record: of the query, see `Query.record`. reads, options, proved: of the Verifier. sample: the source of a
    controller that remembers the same. name: what messages call it.
    """
    kept = _keep(record, reads, sample, options, proved)
    with kept.environment:
        return replace(kept.verifier.verify(kept.verifier.query.read_controller(source, name)), controller=None)


def prove(record, reads, sample, options):
    """The names of the ways to fail that no controller can go."""
    kept = _keep(record, reads, sample, options)
    with kept.environment:
        return kept.verifier.prove()


def _keep(record, reads, sample, options, proved=()):
    """What this thread keeps: a verifier, and the environment of its formulas."""
    key = record, reads, sample, options, proved
    if getattr(_kept, "key", None) != key:
        environment = Environment()
        with environment:
            query = queries.from_record(record, allow_code=True)
            verifier = Verifier(query, reads, options, proved, query.read_controller(sample).state)
        _kept.environment, _kept.verifier, _kept.key = environment, verifier, key
    return _kept
