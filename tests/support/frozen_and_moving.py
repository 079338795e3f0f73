"""Two encodings of one question, bounds that stay and bounds that move, and what they answer."""

from dataclasses import replace
from random import Random

from ccmatic.templates.two_branches import TEMPLATE

from ccmatic import controllers as cca
from ccmatic.answers.verification.verifier import Part
from ccmatic.contracts.belief import Bounds
from ccmatic.contracts.property import WayToFail
from ccmatic.contracts.template import Branch, linear_forms
from ccmatic.logic.solving import SolverOptions
from ccmatic.logic.terms import constant, every, no
from ccmatic.questions import query as queries

#: `if condition: rate else: rate` over the beliefs of CBR-delay (docs/reference/encoding.md, section 9, 2λ).
OVER_QUEUE = Branch(
    linear_forms({"q_U / R_m": range(-2, 3), "C_Llambda": range(-2, 3), "MSS / R_m": range(-2, 3)}),
    *[linear_forms({"C_Llambda": (0, "1/2", 1, 2, 3), "q_U / R_m": (0, 1, -1), "MSS / R_m": (0, 1, -1)})] * 2,
)


def random_candidates(template, query, number, seed=0):
    """Controllers in which random forms fill the template's holes."""
    rng = Random(seed)
    for _ in range(number):
        text = template.source([rng.choice(hole) for hole in template.holes()], "Drawn at random.")
        yield cca.parse(text, beliefs=query.units())


def ways(query, goal):
    """The goal while no bound moves: with frozen bounds, and with moving ones, none tighter at the end."""
    bounds = query.model.bounds()
    names = tuple(bound.name for bound in bounds)

    def unmoved(x):
        return every([no(bound.tighter(x)) for bound in bounds], goal(x))

    moving = WayToFail("moving", unmoved, reads=names)
    return WayToFail("frozen", goal, bounds=Bounds.STAY, reads=names), moving


#: The queries on which candidates are compared, each with the space from which they are drawn. The thresholds
#: are such that some candidates hold.
COMPARED = (
    ("ccac", "infinite", 4, {"utilisation": "0"}, TEMPLATE),
    ("ccac", "any", 4, {"utilisation": "0"}, TEMPLATE),
    ("ideal", "infinite", 3, {"utilisation": "0", "inflight_rates": "2"}, TEMPLATE),
    ("cbr_delay", "any", 4, {"utilisation": "0"}, OVER_QUEUE),
)


def on_candidates(model, buffer, horizon, thresholds, template):
    """The two encodings' answers on each candidate."""
    query = queries.make(model, buffer, horizon, thresholds=thresholds)
    goal = next(
        way.formula for way in query.property.ways_to_fail(query.model, query.buffer) if way.bounds is Bounds.STAY
    )
    yield from asked(query, ways(query, goal), template)


def asked(query, two_ways, template):
    """The answers, for each of the ways, on random candidates."""
    reads = template.names & query.units().keys()
    parts = [Part(query, way, SolverOptions(), reads) for way in two_ways]
    for controller in random_candidates(template, query, 30):
        yield tuple(part.ask(controller) for part in parts)


def on_large_losses(model, template):
    """The answers on each candidate, with and without true bounds."""
    query = queries.make(model, "any", 4, thresholds={"constrain_loss": "always"})
    way = next(way for way in query.property.ways_to_fail(query.model, query.buffer) if way.bounds is Bounds.HOLD)
    bounds = tuple(bound.name for bound in query.model.bounds())
    way = replace(way, reads=bounds)
    yield from asked(query, (way, replace(way, bounds=Bounds.MOVE)), template)


def on_windows(model, buffer, horizon):
    """The two encodings' answers on each goal."""
    query = queries.make(model, buffer, horizon)
    parts = [Part(query, way, SolverOptions(), ()) for way in ways(query, lambda x: constant(True))]
    for seed in range(40):
        yield tuple(_reached(part, seed) for part in parts)


def _reached(part, seed):
    """Whether a random goal can be reached: two windows, each at least or at most a multiple of a bound."""
    rng, x = Random(seed), part.x
    part.checker.push()
    for _ in range(2):
        column, bound = rng.choice((x.A, x.S)), rng.choice(sorted(part.way.reads))
        begin, end = sorted(rng.sample(range(x.horizon), 2))
        sent, most = column[end] - column[begin], x.beliefs[bound][0] * rng.randint(1, x.horizon)
        part.checker.add(sent < most if rng.random() < 0.5 else sent > most)
    answer = part.checker.check()
    part.checker.pop()
    return answer
