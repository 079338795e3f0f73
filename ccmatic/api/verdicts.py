"""Verdicts on controllers, the traces that show them, and what can be computed from a trace."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from ccmatic import __version__, explanation, questions, verification
from ccmatic.api.given import Asked, Given, load_controller, read_query
from ccmatic.base import InputError, quantities, shown, write_text
from ccmatic.explanation import Explanation
from ccmatic.logic import isolated
from ccmatic.query import Decides, Network, Query
from ccmatic.questions import Question
from ccmatic.records import ExpectationRecord
from ccmatic.solving import SolverOptions
from ccmatic.traces import Trace
from ccmatic.verification import Judge, Judgement, Report
from ccmatic.workers import Team

if TYPE_CHECKING:
    from ccmatic.analysis.starvation import Starvation
    from ccmatic.analysis.worst_case import Worst
    from ccmatic.learning.estimation import Estimate


def verify(
    controller: Given,
    query: Asked,
    *,
    smt2: str | Path | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Judgement:
    """Verify that a controller ensures a query's property on every trace of its network.

    On networks of windows, packets are smaller than C·R_m/5, unless a given condition compares `alpha`.

    Args:
        controller: The controller.
        query: The query.
        smt2: As in `verify_all`.
        solver: SolverOptions.

    Returns:
        The Judgement. Its `verdict` is `holds`, `violated` or `unknown` (timed out). Its `trace` shows a violation. If
        the property holds on the published model only, `unmodelled` is an execution outside that model that breaks it.

    Raises:
        InputError: If the controller does not fit the network, or the network has no execution.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.verify("cc_qdel", "g1_t5").trace.plot()
    """
    return next(verify_all([controller], query, smt2=smt2, solver=solver))


def verify_all(
    controllers: Sequence[Given],
    query: Asked,
    *,
    smt2: str | Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Iterator[Judgement]:
    """Verify several controllers on one network, which is encoded once for all that read the same beliefs.

    Args:
        controllers: The controllers. All of them are read before the first is verified.
        query: The query; see `verify`.
        smt2: The file that receives the questions about all controllers as SMT-LIB 2, before the first is verified.
        jobs: How many processes verify. The verdicts do not depend on the number; the trace of a violation may.
        cluster: The address of a Dask cluster that verifies in place of processes.
        solver: SolverOptions; the timeout is for each controller.

    Returns:
        An iterator over a Judgement for each controller, in their order. Each step of the iterator verifies a
        controller.

    Raises:
        InputError: If a controller cannot be read, or the file cannot be written. During iteration, as in `verify`.
        Disagreement: Two solvers disagree, during iteration.
    """
    small = read_query(query).of_small_packets()
    pairs = [(small, load_controller(each, small)) for each in controllers]
    return _judgements(pairs, smt2, jobs, cluster, solver)


def _judgements(
    pairs: Sequence[tuple[Query, Decides]],
    smt2: str | Path | None,
    jobs: int,
    cluster: str | None,
    solver: SolverOptions,
) -> Iterator[Judgement]:
    """Return an iterator over a Judgement for each pair of query and controller, in order."""
    judges = [Judge(query, options=solver) for query, _ in pairs]
    for number in range(1, len(pairs)):
        if pairs[number][0].record() == pairs[number - 1][0].record():
            judges[number] = judges[number - 1]
    if smt2 is not None:
        script = "".join(judge.script(controller) for judge, (_, controller) in zip(judges, pairs, strict=True))
        write_text(smt2, f"; ccmatic {__version__}\n(set-logic QF_LRA)\n{script}")
    if jobs == 1 and cluster is None:
        return (judge.judge(controller) for judge, (_, controller) in zip(judges, pairs, strict=True))
    return _side_by_side(pairs, min(jobs, len(pairs)), cluster, solver)


def _side_by_side(
    pairs: Sequence[tuple[Query, Decides]], jobs: int, cluster: str | None, solver: SolverOptions
) -> Iterator[Judgement]:
    """Do the same as `_judgements`, on other processes or machines."""
    with Team(jobs, cluster) as team:
        yield from verification.judge_each(team, pairs, solver)


def ask(
    controller: Given | Sequence[Given],
    on: str,
    expect: str,
    *,
    start: str = "any",
    horizon: int | None = None,
    period: int | None = None,
    given: str = "",
) -> Question:
    """Ask whether a controller meets an expectation on a network (docs/reference/expectations.md).

    Args:
        controller: The controller, or one for each flow of the network.
        on: The network, such as `ccac, buffer 1 bdp, jitter 1 rtt` or `24 mbit, rtt 40 ms, buffer 1 bdp`.
        expect: The expectation, such as `utilisation >= 80% over every 10 rtt` or `share >= 20% beside cubic`.
        start: Where executions begin: `any`, `start`, `converged`, or conditions such as `window <= 2 bdp`.
        horizon: T in steps. Default: as many as the expectation needs, at least 4 R_m.
        period: Only consider executions that repeat after this many steps, and so may go on for ever.
        given: Further conditions on executions, in the language of `avoids`, separated by `;`.

    Returns:
        The Question, which `answer` decides.

    Raises:
        InputError: If a text cannot be read, or the network cannot express the expectation.

    Examples:
        >>> cm.answer(cm.ask("cc_qdel", "ccac, buffer 1 bdp", "queue <= 4 bdp"))
    """
    return questions.ask(controller, on, expect, start, horizon, period, given)


def answer(question: Question, *, smt2: str | Path | None = None, solver: SolverOptions = SolverOptions()) -> Judgement:
    """Decide a question of `ask`.

    Args:
        question: The Question.
        smt2: The file that receives the solver's question as SMT-LIB 2.
        solver: SolverOptions.

    Returns:
        The Judgement; its verdict is `holds`, `violated` or `unknown`.

    Raises:
        InputError: If no execution satisfies the start and the conditions, so that any expectation would hold.
        Disagreement: Two solvers disagree.
    """
    return next(answer_all([question], smt2=smt2, solver=solver))


def answer_all(
    asked: Sequence[Question],
    *,
    smt2: str | Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Iterator[Judgement]:
    """Decide several questions; see `answer`. Consecutive questions about the same network share its encoding.

    Args:
        asked: The Questions.
        smt2: As in `verify_all`.
        jobs: How many processes decide.
        cluster: The address of a Dask cluster that decides in place of processes.
        solver: SolverOptions.

    Returns:
        An iterator over a Judgement for each question, in their order. Each step of the iterator decides a question.
    """
    pairs = [(each.query.of_small_packets(), each.controller) for each in asked]
    return _with_horizons_named(asked, _judgements(pairs, smt2, jobs, cluster, solver))


def _with_horizons_named(asked: Sequence[Question], judgements: Iterator[Judgement]) -> Iterator[Judgement]:
    """Yield judgements. An error about a default horizon says that it is the default."""
    for question in asked:
        with question.horizon_named():
            judgement = next(judgements)
        yield judgement


@isolated
def worst(
    controller: Given | Sequence[Given] | Question,
    network: Network | None = None,
    of: str = "utilisation",
    *,
    start: str = "any",
    given: str = "",
    period: int | None = None,
    at: Fraction | int | str | None = None,
    low: Fraction | int | str | None = None,
    high: Fraction | int | str | None = None,
    resolution: Fraction | int | str | None = None,
    told: Callable[[Fraction], None] = lambda x: None,
    solver: SolverOptions = SolverOptions(),
) -> "Worst":
    """Find the worst value that a network can force on a controller. The solver decides both sides of this edge.

    Packets are bounded as in `verify`.

    Args:
        controller: The controller, or one for each flow of the network. Or a Question of `ask`, which then also gives
            the network, the quantity and the start; its amount is among the values that are decided.
        network: The network.
        of: `utilisation`, `loss` (per R_m), `queue`, `delay` or `window`. For several flows also `share`, the least
            share of the served bytes that a flow gets; and for two flows `jain`, the same as Jain's index. Or a
            condition on x (docs/reference/worst.md).
        start: `any`, or `empty`: the queue is empty and no packet was lost.
        given: Only consider executions that satisfy this condition.
        period: Only consider executions that repeat after this many steps, and so may go on for ever. The network's
            horizon is then at least 2·period + 1.
        at: Decide this x only. Otherwise x is searched from low to high, up to the resolution.
        low: The lower end of the search.
        high: The upper end of the search.
        resolution: The largest distance between the two sides of the edge.
        told: Receives each x before it is decided.
        solver: SolverOptions; the timeout is for each x.

    Returns:
        The Worst: both sides of the edge, and a trace that shows the worst value.

    Raises:
        InputError: If a text cannot be read, or no execution satisfies the conditions.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.worst("copa", cm.Network("ccac2021", buffer="infinite", horizon=13), period=6).some
    """
    from ccmatic.analysis import worst_case

    among = {"at": at, "low": low, "high": high, "resolution": resolution}
    if isinstance(controller, Question):
        return next(worst_case.search_each([controller], among, told, options=solver))
    if not isinstance(network, Network):
        raise InputError(f"{shown(network)} is no network; expected a Network, such as Network('ccac', 'any', 11)")
    about = {"start": start, "given": given, "period": period, "listener": told}
    return worst_case.search(controller, network, of, **about, **among, options=solver)


def worst_all(
    asked: Sequence[Question],
    *,
    at: Fraction | int | str | None = None,
    low: Fraction | int | str | None = None,
    high: Fraction | int | str | None = None,
    resolution: Fraction | int | str | None = None,
    told: Callable[[Fraction], None] = lambda x: None,
    jobs: int = 1,
    cluster: str | None = None,
    solver: SolverOptions = SolverOptions(),
) -> "Iterator[Worst]":
    """Find the worst value of each question's expectation; see `worst`.

    Args:
        asked: The Questions of `ask`.
        at: As in `worst`, in the units of each expectation; the same holds for the next three arguments.
        low: The lower end of the search.
        high: The upper end of the search.
        resolution: The largest distance between the two sides of the edge.
        told: Receives each x before it is decided, if this process does the work.
        jobs: How many processes search. The edges do not depend on the number; a trace may.
        cluster: The address of a Dask cluster that searches in place of processes.
        solver: SolverOptions; the timeout is for each x.

    Returns:
        An iterator over the Worst of each question, in their order. Each step of the iterator searches for one.
    """
    from ccmatic.analysis import worst_case

    among = {"at": at, "low": low, "high": high, "resolution": resolution}
    return worst_case.search_each(asked, among, told, jobs, cluster, solver)


@isolated
def starve(
    controller: Given,
    beside: Given | None = None,
    *,
    on: str | None = None,
    periods: Sequence[int] = (1, 2, 3, 4),
    told: Callable[[str], None] = lambda what: None,
    solver: SolverOptions = SolverOptions(timeout=60),
) -> "Starvation":
    """Find which flow starves on a shared link: the least share that the network can leave it (docs/starvation.md).

    Args:
        controller: The controller, which sends by a window.
        beside: The controller of the other flow. Default: all flows run the same one.
        on: The network in the question language. Default: each flow has its own jitter of one R_m, and the buffer is
            infinite, or 1/4 bdp if a controller slows down only after losses.
        periods: The periods that are tried, in order. Executions that repeat after a period may go on for ever.
        told: Receives a description of each search when it begins.
        solver: SolverOptions; the timeout is for all periods together.

    Returns:
        The Starvation. Its verdict is `starves`, `does not starve` or `unknown`.

    Raises:
        InputError: If a controller sends at rates, or the network has one flow or cannot be read.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.starve("vegas").share
    """
    from ccmatic.analysis import starvation

    return starvation.search(controller, beside, on, periods, told, options=solver)


def estimate(
    trace: Trace | str | Path,
    network: Network | None = None,
    *,
    told: "Callable[[Estimate], None]" = lambda estimate: None,
) -> "list[Estimate]":
    """Compute what a sender can know about its path at the end of each step of a trace, except the first.

    Args:
        trace: The trace, or its file.
        network: The network. Default: the trace's. The sender looks back as many steps as its horizon has, except for
            its knowledge of C.
        told: Receives each Estimate as soon as it is computed.

    Returns:
        The Estimates. `possible` has the exact range over all executions of the network that give the sender the same
        observations. `declared` has the model's beliefs.

    Raises:
        InputError: If no execution of the network matches the trace. The error names the violated laws.

    Examples:
        >>> cm.estimate("results/gallery/late_drain.json")[-1].possible.C
    """
    from ccmatic.learning import estimation

    loaded, estimates = _loaded(trace), []
    for step in estimation.estimates(loaded, network or estimation.network_of(loaded)):
        told(step)
        estimates.append(step)
    return estimates


def network_of(
    trace: Trace | str | Path,
    *,
    model: str | Path | None = None,
    buffer: int | str | Fraction | None = None,
    jitter: int | str | None = None,
    horizon: int | str | None = None,
    allow_code: bool = False,
) -> Network:
    """Return the network of a trace with other values, for `estimate`.

    Args:
        trace: The trace, or its file.
        model: Another model, as in `Network`. Default: the trace's own value, as for the next arguments.
        buffer: Another buffer.
        jitter: Another jitter.
        horizon: The number of steps that a sender looks back. Default: all steps of the trace.
        allow_code: Run the file that the trace names as its model. Otherwise only shipped models are accepted.

    Returns:
        The Network. It allows all executions, also those outside the published model.

    Raises:
        InputError: If a value names no network.

    Examples:
        >>> cm.estimate("results/gallery/late_drain.json", cm.network_of("results/gallery/late_drain.json", jitter=2))
    """
    from ccmatic.learning import estimation

    made: Network = estimation.network_of(_loaded(trace), model, buffer, jitter, horizon, allow_code)
    return made


def replay(trace: Trace | str | Path, *, allow_code: bool = False) -> Report:
    """Check every law of a trace by exact arithmetic, without a solver.

    Args:
        trace: The trace, or its file.
        allow_code: Run the files that the trace names as model or property. Otherwise only shipped ones are accepted.

    Returns:
        The Report. Its `faults` list the laws that the trace breaks, and its `outcome` tells whether the trace breaks
        its property.

    Raises:
        InputError: If the file is no trace, or the trace lacks a value that its query needs.
    """
    if isinstance(trace, Trace):
        return verification.replay(trace, None, allow_code)
    return verification.replay(Trace.load(str(trace)), str(trace), allow_code)


def measure(trace: Trace | str | Path, expectation: str, *, allow_code: bool = False) -> ExpectationRecord:
    """Judge a trace by an expectation (docs/reference/expectations.md), exactly.

    This does not check whether the trace obeys the laws of its network; `replay` does.

    Args:
        trace: The trace or its file, such as a counterexample or the trace of a simulated run.
        expectation: The expectation, such as `utilisation >= 80% over every 4 rtt`.
        allow_code: As in `replay`.

    Returns:
        The verdict (`met`, `not met` or `not applicable`), and the worst value with its place.

    Raises:
        InputError: If the expectation cannot be read, or the trace does not show its quantity.

    Examples:
        >>> cm.measure("results/gallery/late_drain.json", "queue <= 4 bdp").verdict
    """
    return questions.measure(_loaded(trace), expectation, allow_code)


@isolated
def explain(trace: Trace | str | Path, *, report: Report | None = None, allow_code: bool = False) -> Explanation:
    """Explain a trace in sentences with numbers.

    The sentences say which part of the property is broken and why no exception excuses it, what the network did, and
    which controller chose the rates.

    Args:
        trace: The trace, or its file.
        report: The Report of the trace's replay, such as a Judgement has. Default: the trace is replayed.
        allow_code: As in `replay`.

    Returns:
        The Explanation.

    Raises:
        InputError: For the reasons that `replay` gives.
    """
    return explanation.explain(_loaded(trace), report or replay(trace, allow_code=allow_code))


@isolated
def trace_page(trace: Trace | str | Path, *, report: Report | None = None, allow_code: bool = False) -> str:
    """Show a trace step by step on an HTML page that needs no other file.

    Args:
        trace: The trace, or its file.
        report: The Report of the trace's replay. Default: the trace is replayed.
        allow_code: As in `replay`.

    Returns:
        The text of the page.

    Raises:
        InputError: For the reasons that `replay` gives, or a number is too large to draw.
    """
    page: str = explanation.page(_loaded(trace), report or replay(trace, allow_code=allow_code))
    return page


def export_trace(
    trace: Trace | str | Path,
    kind: str,
    *,
    rate: str,
    rtt: str,
    mss: int = 1500,
    lead: str = "0ms",
    allow_code: bool = False,
) -> tuple[bytes, list[str]]:
    """Convert a trace to the format of another tool, at a concrete scale.

    Args:
        trace: The trace, or its file.
        kind: The format: `mahimahi`, `schedule`, `holds`, `csv`, `json` or `npz`.
        rate: The trace's C, such as "24mbit".
        rtt: The trace's R_m, such as "40ms".
        mss: Bytes in a packet.
        lead: Whole milliseconds of silence before a link trace of mahimahi, in which a sender can fill the queue.
        allow_code: Run the file that the trace names as its model. Otherwise only shipped models are accepted.

    Returns:
        The content of the file to write, and notes: a sentence for each quantity that the format omits or rounds.

    Raises:
        InputError: If the trace cannot be exported to this format.

    Examples:
        >>> cm.export_trace("results/gallery/late_drain.json", "schedule", rate="24mbit", rtt="40ms")
    """
    from ccmatic import trace_export

    loaded = _loaded(trace)
    scale = trace_export.Scale(quantities.rate(rate), quantities.duration(rtt), mss)
    silence = quantities.duration(lead) * 1000
    if silence.denominator != 1 or silence > trace_export.LATEST:
        raise InputError(f"the lead is '{lead}'; expected whole ms, at most {trace_export.LATEST}, such as 700ms")
    file = None if isinstance(trace, Trace) else str(trace)
    made: tuple[bytes, list[str]] = trace_export.export(loaded, kind, scale, file, allow_code, int(silence))
    return made


def _loaded(trace: Trace | str | Path) -> Trace:
    return trace if isinstance(trace, Trace) else Trace.load(str(trace))
