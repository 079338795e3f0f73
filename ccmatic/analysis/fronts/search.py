"""The members of every class that a query has solutions of, and envelopes, each proved by the shapes of its network."""

from collections import defaultdict
from fractions import Fraction
from statistics import mean

from ccmatic.analysis.fronts.points import Member, Point, measured
from ccmatic.analysis.widening import Grid, envelope_name, factors, said_of, widen
from ccmatic.base import OutOfTime, exact
from ccmatic.contracts import WayToFail, load_definition
from ccmatic.controllers import parse
from ccmatic.logic import every, isolated, no, some
from ccmatic.proving import Listener, attempts, shapes_on, windows_of
from ccmatic.solving import UNSAT, SolverOptions
from ccmatic.synthesis import COUNTEREXAMPLE, generator
from ccmatic.traces import Trace
from ccmatic.verification import HOLDS, UNDECIDED, Part, choices
from ccmatic.workers import Team

#: The largest factor by which the most that a controller sends is multiplied.
MOST = Fraction(2)


def network_of(query):
    """Model, buffer and jitter of a query, of which shapes are. Raises InputError where none is."""
    network = query.network.model_name, str(query.buffer), query.jitter
    shapes_on(network)
    return network


def members(query, events):
    """A Member for every candidate that no counterexample breaks, one of those that send the same, those of few terms
    first. events: of a synthesis that has ended: then each is of a class that has a solution, or was not decided in
    time."""
    remaining = generator(query)
    breaking = [Trace.from_json(event.trace) for event in events if event.kind == COUNTEREXAMPLE]
    for trace in breaking:
        remaining.strike_like(trace)
    distinct, conditions = {}, remaining.space.conditions
    while forms := remaining.propose():
        remaining.strike(forms)
        sent = tuple(None if hole not in conditions and _lowest(form) else form for hole, form in enumerate(forms))
        distinct.setdefault(sent, forms)
    simple = sorted(distinct.values(), key=lambda forms: sum(len(form.coefficients) for form in forms))
    differing = _differing(query, simple, breaking)
    names = [f"{query.name}_front_{number}" for number in range(1, len(differing) + 1)]
    said = [f"{name}: of the front of {query.name}." for name in names]
    return list(map(Member, names, map(query.template.source, differing, said)))


@isolated
def _differing(query, candidates, traces):
    """Those of the candidates, by their forms, that do not send in every window what one before them sends. traces:
    where many differ."""
    shape, *_ = shapes_on(network_of(query))
    proof = load_definition("proofs", "PROOF", shape)
    windows = windows_of(shape, proof, proof.horizon)
    reads = tuple(query.template.names & windows.units().keys())
    part = Part(windows, WayToFail("a window", lambda x: True, reads=reads), SolverOptions(), ())
    differing, alike = [], defaultdict(list)
    for forms in candidates:
        one = query.read_controller(query.template.source(forms, ""), "candidate")
        before = alike[str([trace.allowed(one) for trace in traces])]
        if not any(_same(part, one, other) for other in before):
            before.append(one)
            differing.append(forms)
    return differing


def _same(part, one, other):
    """Whether each window of one of the controllers is one of the other's."""
    by_one, by_other = choices(part.x, one), choices(part.x, other)
    part.checker.push()
    part.checker.add(some(every(by_one, no(by_other)), every(by_other, no(by_one))))
    answer = part.checker.check()
    part.checker.pop()
    return answer == UNSAT


def _lowest(form):
    """Whether a rate is never above a packet in an R_m, which is then what is sent."""
    return all(term == "MSS / R_m" and coefficient <= 1 for term, coefficient in form.coefficients)


def step_of(text):
    """The step of a Grid. Raises InputError for what is none."""
    step = exact(text)
    factors(step, MOST)
    return step


def envelopes(query, points, step, options=SolverOptions()):
    """A Member for each maximal envelope around the controllers of Points for which a query holds, if it leaves a
    choice. step, options: as of `widen`."""
    for point in points:
        grid = Grid(query.read_controller(point.source, point.name), query.units(), step, MOST)
        widening = widen(grid, query, options=options)
        for number, place in enumerate(widening.maximal, start=1):
            if any(place):
                source = grid.source(place, said_of(widening, number))
                yield Member(envelope_name(widening, number), source, _freedom(grid, place))


def _freedom(grid, place):
    moved = [end.factors[i] for end, i in zip(grid.ends, place, strict=True)]
    return mean(1 - low / high for low, high in zip(moved[::2], moved[1::2], strict=True))


def prove_each(query, members, folder, jobs=1, cluster=None, options=SolverOptions()):
    """Yield the Point of each of the Members, in their order; the proofs go to a folder, in which the same call
    resumes. jobs, cluster: as of `synthesise`. options: SolverOptions. Raises InputError where no shape is of the
    query's network, or of what a controller reads."""
    network = network_of(query)
    with Team(jobs, cluster) as team:
        yield from team.each(point, [(member, str(folder), network, options) for member in members])


@isolated
def point(member, folder, network, options):
    """The Point of a Member, by the first of a network's shapes that holds, or the last that was tried."""
    name, source = member.name, member.source
    try:
        *_, tried = attempts(parse(source, name), folder, Listener(), network=network, options=options)
    except OutOfTime as error:
        return Point(name, source, None, UNDECIDED, None, {}, str(error))
    proof, held = load_definition("proofs", "PROOF", tried.shape), tried.verdict == HOLDS
    measures = measured(proof, tried.result, member.freedom) if held else {}
    return Point(name, source, tried.shape, tried.verdict, str(tried.result.file), measures, tried.why)
