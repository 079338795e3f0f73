"""The members of every class that a query has solutions of, each proved by the shapes of its network."""

from ccmatic.base import OutOfTime
from ccmatic.contracts import load_definition
from ccmatic.front.points import Point, measured
from ccmatic.language import parse
from ccmatic.logic import isolated
from ccmatic.proving import Listener, attempts, shapes_on
from ccmatic.synthesis import COUNTEREXAMPLE, Team, generator
from ccmatic.traces import Trace
from ccmatic.verification import HOLDS, UNDECIDED


def network_of(query):
    """Model, buffer and jitter of a query, of which shapes are. Raises InputError where none is."""
    network = query.network.model_name, str(query.buffer), query.jitter
    shapes_on(network)
    return network


def members(query, events):
    """(name, source) of every candidate that no counterexample breaks, one of those that send the same, those of few
    terms first. events: of a synthesis that has ended: then each is of a class that has a solution, or was not decided
    in time."""
    remaining = generator(query)
    for event in events:
        if event.kind == COUNTEREXAMPLE:
            remaining.strike_like(Trace.from_json(event.trace))
    found, conditions = {}, remaining.space.conditions
    while forms := remaining.propose():
        remaining.strike(forms)
        sent = tuple(None if hole not in conditions and _lowest(form) else form for hole, form in enumerate(forms))
        found.setdefault(sent, forms)
    simple = sorted(found.values(), key=lambda forms: sum(len(form.coefficients) for form in forms))
    named = ((f"{query.name}_{number}", forms) for number, forms in enumerate(simple, start=1))
    return [(name, query.template.source(forms, f"{name}: of the front of {query.name}.")) for name, forms in named]


def _lowest(form):
    """Whether a rate is never above a packet in an R_m, which is then what is sent."""
    return all(term == "MSS / R_m" and coefficient <= 1 for term, coefficient in form.coefficients)


def prove_each(query, controllers, folder, jobs=1, cluster=None, **options):
    """Yield the Point of each of the controllers, (name, source) pairs, as soon as it is known; the proofs go to a
    folder, in which the same call goes on. jobs, cluster: as of `synthesise`. options: of the Prover. Raises InputError
    where no shape is of the query's network, or of what a controller reads."""
    network = network_of(query)
    team = Team(jobs, cluster)
    try:
        waiting = iter(controllers)
        while True:
            for name, source in waiting:
                team.submit(name, point, name, source, str(folder), network, query.horizon, options)
                if len(team) >= jobs:
                    break
            if not team:
                return
            for _, found in team.results():
                yield found
    finally:
        team.close()


@isolated
def point(name, source, folder, network, horizon, options):
    """The Point of a controller, by the first of a network's shapes that holds, or the last that was tried."""
    try:
        *_, tried = attempts(parse(source, name), folder, Listener(), network=network, horizon=horizon, **options)
    except OutOfTime as error:
        return Point(name, source, None, UNDECIDED, None, {}, str(error))
    proof, held = load_definition("proofs", "PROOF", tried.shape), tried.verdict == HOLDS
    measures = measured(proof, tried.result) if held else {}
    return Point(name, source, tried.shape, tried.verdict, str(tried.result.file), measures, tried.why)
