"""Verdicts of the tool that the paper's authors published (tests/peer_verdicts), and how they differ from ours."""

import json
from fractions import Fraction

from ccmatic import controllers as cca
from ccmatic.answers.verification import counterexample
from ccmatic.answers.verification.verifier import VIOLATED, Verifier
from ccmatic.contracts.template import Form
from ccmatic.questions import query as queries
from support import TESTS

PEERS = sorted((TESTS / "peer_verdicts").glob("*.json"))
#: How a controller writes the terms of a peer's form.
WRITTEN = {"MSS/R_m": "MSS / R_m", "q_U": "q_U / R_m"}


def peer_query(file, delay="published"):
    """The query of a file of verdicts, and its candidates: (controller, verdict) pairs."""
    data = json.loads(file.read_text())
    asked = data["query"]
    thresholds = {name: asked[name] for name in ("utilisation", "constrain_loss")}
    network = (asked[name] for name in ("model", "buffer", "horizon"))
    query = queries.make(*network, delay=delay, thresholds=thresholds)
    return query, [(_peer(candidate, query), candidate["verdict"]) for candidate in data["candidates"]]


def _peer(candidate, query):
    test, then, other = (_form(candidate[part]) for part in ("if", "then", "else"))
    names = ", ".join(sorted(test.names | then.names | other.names))
    source = f"def rate({names}):\n    if {test} > 0:\n        return {then}\n    return {other}\n"
    return cca.parse(source, beliefs=query.units())


def _form(coefficients):
    pairs = ((WRITTEN.get(term, term), Fraction(c)) for term, c in coefficients.items())
    return Form(tuple((term, c) for term, c in pairs if c))


def differing(query, candidates):
    """The (controller, verdict here) pairs that are not as the peer says."""
    reads = set().union(*(controller.parameters for controller, _ in candidates)) & query.units().keys()
    verifier = Verifier(query, reads)
    ours = [(controller, verifier.verify(controller)) for controller, _ in candidates]
    return [pair for pair, (_, verdict) in zip(ours, candidates, strict=True) if pair[1].verdict != verdict]


def counterexample_to(query, controller):
    """A violated controller's trace, as people get it."""
    verifier = Verifier(query, set(controller.parameters) & query.units().keys())
    verdict = verifier.verify(controller)
    assert verdict.verdict == VIOLATED
    trace, _ = counterexample.for_people(verifier.part(verdict.way), controller)
    return trace
