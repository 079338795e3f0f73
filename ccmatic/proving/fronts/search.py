"""The controllers in every class of a query's solutions, and envelopes around them.

Shapes (general proofs) prove each of them.
"""

from collections import defaultdict
from fractions import Fraction
from statistics import mean

from ccmatic.answers.verification import HOLDS, UNDECIDED, Part, choices
from ccmatic.base import OutOfTime, exact
from ccmatic.base.workers import Team
from ccmatic.contracts import WayToFail, load_definition
from ccmatic.controllers import parse
from ccmatic.logic import every, isolated, no, some
from ccmatic.logic.solving import UNSAT, SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.proving.fronts.points import Member, Point, measured
from ccmatic.proving.proof_search import Listener
from ccmatic.proving.prover import windows_of
from ccmatic.proving.shapes import attempts, shapes_on
from ccmatic.synthesis import COUNTEREXAMPLE, generator
from ccmatic.synthesis.widening import counts, envelope_docstring, envelope_name, widen

#: The largest factor by which the upper end of an envelope exceeds a controller's rate.
MOST = Fraction(2)


def network_of(query):
    """Return the model, buffer and jitter of a query. Raise InputError if no shape fits."""
    network = query.network.model_name, str(query.buffer), query.jitter
    shapes_on(network)
    return network


def members(query, events):
    """Return a Member for every candidate that no counterexample breaks. Candidates with few terms come first.

    The events are those of a complete synthesis, so each remaining candidate belongs to a class that has a solution or
    timed out. Candidates that always send the same bytes count as one Member.
    """
    remaining = generator(query)
    breaking = [Trace.from_json(event.trace) for event in events if event.kind == COUNTEREXAMPLE]
    for trace in breaking:
        remaining.strike_like(trace)
    distinct, conditions = {}, remaining.space.conditions
    while forms := remaining.propose():
        remaining.strike(forms)
        # All rates that never exceed the smallest rate send the same bytes, so their forms are not compared.
        sent = tuple(None if hole not in conditions and _lowest(form) else form for hole, form in enumerate(forms))
        distinct.setdefault(sent, forms)
    simple = sorted(distinct.values(), key=lambda forms: sum(len(form.coefficients) for form in forms))
    differing = _differing(query, simple, breaking)
    names = [f"{query.name}_front_{number}" for number in range(1, len(differing) + 1)]
    docstrings = [f"{name}: of the front of {query.name}." for name in names]
    return list(map(Member, names, map(query.template.source, differing, docstrings)))


@isolated
def _differing(query, candidates, traces):
    """Return the candidates, except those that send the same bytes as an earlier candidate in every window."""
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
    """Return whether two controllers allow the same windows."""
    by_one, by_other = choices(part.x, one), choices(part.x, other)
    part.checker.push()
    part.checker.add(some(every(by_one, no(by_other)), every(by_other, no(by_one))))
    answer = part.checker.check()
    part.checker.pop()
    return answer == UNSAT


def _lowest(form):
    """Return whether a rate never exceeds one packet per R_m, so that the controller sends one packet per R_m."""
    return all(term == "MSS / R_m" and coefficient <= 1 for term, coefficient in form.coefficients)


def step_of(text):
    step = exact(text)
    counts(step, MOST)
    return step


def envelopes(query, points, step, options=SolverOptions()):
    """Yield a Member for each maximal envelope around the Points' controllers, if it leaves a choice of rates."""
    for point in points:
        controller = query.read_controller(point.source, point.name)
        widening = widen(controller, query, step=step, most=MOST, solver=options)
        for number, place in enumerate(widening.maximal, start=1):
            if any(place):
                source = widening.grid.source(place, envelope_docstring(widening, number))
                yield Member(envelope_name(widening, number), source, _freedom(widening.grid, place))


def _freedom(grid, place):
    moved = [end.factors[i] for end, i in zip(grid.ends, place, strict=True)]
    return mean(1 - low / high for low, high in zip(moved[::2], moved[1::2], strict=True))


def prove_each(query, members, folder, jobs=1, cluster=None, options=SolverOptions()):
    """Yield the Point of each Member, in the order of the members."""
    network = network_of(query)
    with Team(jobs, cluster) as team:
        yield from team.each(point, [(member, str(folder), network, options) for member in members])


@isolated
def point(member, folder, network, options):
    """Return a Member's Point for the network's first shape whose proof holds.

    If no shape's proof holds, return the Point for the last shape.
    """
    name, source = member.name, member.source
    try:
        *_, tried = attempts(parse(source, name), folder, Listener(), network=network, options=options)
    except OutOfTime as error:
        return Point(name, source, None, UNDECIDED, None, {}, str(error))
    proof, held = load_definition("proofs", "PROOF", tried.shape), tried.verdict == HOLDS
    measures = measured(proof, tried.result, member.freedom) if held else {}
    return Point(name, source, tried.shape, tried.verdict, str(tried.result.file), measures, tried.why)
