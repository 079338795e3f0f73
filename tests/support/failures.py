"""Wrong controllers, each with a network on which it fails, and the trace that shows it."""

from functools import cache

from ccmatic import controllers as cca
from ccmatic.answers.verification import counterexample
from ccmatic.answers.verification.verifier import VIOLATED, Verifier
from ccmatic.questions import query as queries
from support import ROOT

CONTROLLERS = ROOT / "examples" / "controllers"
#: Those that are wrong, each in a way of its own.
WRONG = sorted(file for file in CONTROLLERS.glob("*.py") if file.read_text().startswith('"""Wrong: '))
#: A wrong controller, and a network on which it fails.
FAILURES = (
    ("always_double", "ccac", "any", 5),
    ("late_drain", "ccac", "infinite", 5),
    ("inverted_qdel", "cbr_delay", "1/2", 4),
    ("additive", "cbr_delay", "any", 4),
    ("one_packet", "ideal", "any", 3),
    ("midpoint", "ideal", "infinite", 4),
)


@cache
def failing(failure):
    """The trace that shows the failure."""
    name, model, buffer, horizon = failure
    query = queries.make(model, buffer, horizon)
    controller = cca.load(CONTROLLERS / f"{name}.py", query.units())
    verifier = Verifier(query, set(controller.parameters) & query.units().keys())
    verdict = verifier.verify(controller)
    assert verdict.verdict == VIOLATED
    trace, _ = counterexample.for_people(verifier.part(verdict.way), controller)
    return trace
