"""Fronts: the controllers of a query that no other controller dominates.

Guarantees are points in the space of measures. The controllers are those in every class of the query's solutions, and
envelopes around them. Shapes (general proofs) prove each of them.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from os.path import commonprefix
from pathlib import Path
from statistics import mean

from ccmatic import synthesis
from ccmatic.answers.verification import HOLDS, UNDECIDED, Part, choices
from ccmatic.base import OutOfTime, counted, exact, writable_folder
from ccmatic.base.workers import Team
from ccmatic.contracts import WayToFail, load_definition
from ccmatic.controllers import parse
from ccmatic.logic import every, isolated, no, some
from ccmatic.logic.solving import UNSAT, SolverOptions
from ccmatic.networks import traces
from ccmatic.networks.traces import QUIET, SENDER, SMALL, Trace
from ccmatic.proving.claim import windows_after
from ccmatic.proving.invariants.forms import answer
from ccmatic.proving.proof_search import Listener
from ccmatic.proving.prover import windows_of
from ccmatic.proving.shapes import attempts, shapes_on
from ccmatic.questions.query import Asked, read_query
from ccmatic.synthesis import COUNTEREXAMPLE, generator
from ccmatic.synthesis.widening import counts, envelope_docstring, envelope_name, widen

#: The measures, each with whether a larger value is better. Most measures are constants of a proof, by name.
#: `settles` is the largest number of R_m until beliefs have converged again after the link rate halves or doubles, as a
#: proof's report counts it. `freedom` is the freedom of a Member.
MEASURES = {
    "utilisation": True,
    "inflight": False,
    "loss": False,
    "lossless_buffer": False,
    "settles": False,
    "climb": True,
    "freedom": True,
}

#: The factor by which the link rate changes, for `settles`.
CHANGE = Fraction(2)


@dataclass(frozen=True)
class Member:
    """A controller or an envelope that may be on a front."""

    name: str
    source: str
    #: How much choice an envelope leaves: the share of its largest rate that lies above its smallest rate, averaged
    #: over all returned rates. For a controller this is 0.
    freedom: Fraction = Fraction(0)


@dataclass(frozen=True)
class Point:
    """A controller and the outcome of its proof."""

    name: str
    source: str
    #: The shape that proves the controller, or the last shape tried; None if the search timed out.
    shape: str | None
    verdict: str
    #: The result file of `shape`; None if the search timed out.
    file: str | None
    measures: dict[str, Fraction]
    #: The reason why no shape proves the controller, or None.
    why: str | None = None


def measured(proof, result, freedom):
    measures = {name: result.values[name] for name in MEASURES if name in result.values} | {"freedom": freedom}
    moved = [state for state in proof.states if any(each.name in proof.beliefs for each in state.measures)]
    windows = [windows_after(state, CHANGE, result.values) for state in moved]
    return measures if None in windows else {**measures, "settles": Fraction(sum(windows) * (result.horizon - 1))}


def dominated(points):
    """Return the name of each proved Point, mapped to the names of the points that dominate it.

    A point dominates another point if it is at least as good in each measure, and better in at least one. A missing
    guarantee is worse than any value.
    """
    holding = [point for point in points if point.verdict == "holds"]
    return {one.name: [other.name for other in holding if _dominates(other, one)] for one in holding}


def _dominates(other, one):
    pairs = [(_rank(other, name), _rank(one, name)) for name in MEASURES]
    return all(a >= b for a, b in pairs) and any(a > b for a, b in pairs)


def _rank(point, name):
    """Return a sort key, which is larger for a better value of a measure."""
    if name not in point.measures:
        return (False, 0)
    return (True, point.measures[name] if MEASURES[name] else -point.measures[name])


#: The measures that are plotted against utilisation, with the labels of their axes. A point appears in a panel if
#: the point guarantees both the utilisation and the panel's measure.
PANELS = {
    "inflight": "most bytes in flight (C·($R_m$ + D))",
    "settles": "most time until beliefs converge again ($R_m$)",
    "climb": "least rise of C_L in a window (packets)",
}


def draw(points, dominated, file):
    """Draw the proved points to a file. Points that no other point dominates stand out."""
    drawn = [measure for measure in PANELS if any(measure in point.measures for point in points)] or ["inflight"]
    same = len(commonprefix([point.name for point in points]))  # noqa: RUF071 (names are no paths)
    with traces.figure(file, (4.5 * len(drawn), 4.2)) as figure:
        for axes, measure in zip(figure.subplots(1, len(drawn), squeeze=False)[0], drawn, strict=True):
            for place, names in _places(points, measure).items():
                _mark(axes, place, [name[same:] or name for name in names if not dominated[name]])
            axes.set(xlabel="least share of the link", ylabel=PANELS[measure], xmargin=0.12, ymargin=0.12)
            axes.grid(color="#e6e6e6", linewidth=0.7)
        title = f"{points[0].name[:same]}…: filled points are on the front, hollow ones are dominated"
        figure.suptitle(title, fontsize=SMALL, parse_math=False)


def _places(points, measure):
    places = defaultdict(list)
    for point in points:
        if measure in point.measures:
            places[float(point.measures["utilisation"]), float(point.measures[measure])].append(point.name)
    return places


def _mark(axes, place, best):
    axes.plot(*place, "o", color=SENDER if best else QUIET, fillstyle="full" if best else "none")
    if best:
        axes.annotate(", ".join(best), place, (5, 3), textcoords="offset points", fontsize=SMALL, fontweight="bold")


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
    differ = some(every(by_one, no(by_other)), every(by_other, no(by_one)))
    return answer(part.checker, differ) == UNSAT


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


@dataclass(frozen=True)
class Front:
    """The best guarantees on a network.

    Synthesis finds classes of controllers, and proofs give the guarantees of each controller.

    Attributes:
        points: A Point for each controller.
        dominated: The name of each proved point, mapped to the names of the points that dominate it.
        figure: The file of the figure; None if no point is proved.
    """

    points: list
    dominated: dict
    figure: Path | None


def find_front(
    query: Asked,
    out: str | Path | None = None,
    *,
    step: str | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    begun: Callable[[str], None] = lambda what: None,
    decided: Callable[[Point, int, int], None] = lambda point, number, of: None,
    solver: SolverOptions = SolverOptions(),
) -> Front:
    """Find the controllers that no other one dominates, among the classes of a query's template that have a solution.

    The call proves guarantees by shapes for each controller of these classes that no counterexample breaks.

    Args:
        query: The query, with a template.
        out: The folder for the run, proofs and figure, from which the same call resumes. By default, QUERY-front.
        step: If given, also prove the maximal envelopes around the controllers on the front, with this step as in
            `widen`.
        jobs: The number of processes that do the work.
        cluster: The address of a Dask cluster that does the work instead of processes.
        begun: A function that is called with the name of each stage of the work when the stage begins.
        decided: A function that is called with each decided controller, its number, and the number of all controllers.
        solver: SolverOptions.

    Returns:
        The Front, with a point for each controller, and the names of the controllers that dominate it.

    Raises:
        InputError: If no shape fits the query's network.
        Disagreement: Two solvers disagree.
    """
    query, step = read_query(query), step and step_of(step)
    network_of(query)
    folder = writable_folder(Path(out or f"{query.name}-front"))
    run = folder / "synthesis.db"
    begun(f"synthesising for {query.name}")
    if not synthesis.synthesise(query, run=run, jobs=jobs, cluster=cluster, solver=solver).solutions:
        return Front([], {}, None)
    where = {"folder": folder / "proofs", "jobs": jobs, "cluster": cluster, "options": solver}

    def proved(batch):
        begun(f"proving {counted(len(batch), 'controller')}")
        points = {}
        for point in prove_each(query, batch, **where):
            points[point.name] = point
            decided(point, len(points), len(batch))
        return [points[member.name] for member in batch]

    points = proved(members(query, synthesis.read_run(run)[1]))
    if step:
        best = [point for point in points if dominated(points).get(point.name) == []]
        begun(f"widening {counted(len(best), 'controller')}")
        points += proved(list(envelopes(query, best, step, solver)))
    by = dominated(points)
    figure = folder / "front.svg" if by else None
    if figure:
        draw([point for point in points if point.name in by], by, figure)
    return Front(points, by, figure)
