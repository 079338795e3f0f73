"""Verdicts on controllers, the traces that show these verdicts, and computations on traces."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from ccmatic import __version__
from ccmatic.answers import verification
from ccmatic.answers.verification import Judge, Judgement, Report
from ccmatic.api.given import Asked, Given, load_controller, read_query
from ccmatic.base import InputError, located, quantities, shown, write_text
from ccmatic.logic import isolated
from ccmatic.logic.solving import SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Decides, Network, Query
from ccmatic.records import ExpectationRecord

if TYPE_CHECKING:
    from ccmatic.answers.estimation import Estimate
    from ccmatic.answers.explanation import Explanation
    from ccmatic.answers.starvation import Starvation
    from ccmatic.answers.worst_case import WorstCase
    from ccmatic.language.neural import Decision
    from ccmatic.questions import Question


def verify(
    controller: Given,
    query: Asked,
    *,
    smt2: str | Path | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Judgement:
    """Verify that a controller ensures a query's property on every trace of its network.

    On networks of window senders, packets are smaller than C·R_m/5, unless a given condition is about `alpha`, the
    packet size.

    Args:
        controller: The controller.
        query: The query.
        smt2: As in `verify_all`.
        solver: SolverOptions.

    Returns:
        The Judgement. Its `verdict` is `holds`, `violated` or `unknown` (timed out). Its `trace` shows a violation. If
        the property holds only on the published model, `unmodelled` is an execution outside this model that breaks the
        property.

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
    """Verify several controllers on one network. All controllers that read the same beliefs share one encoding.

    Args:
        controllers: The controllers. All of them are read before the first one is verified.
        query: The query, as in `verify`.
        smt2: A file to which the formulas for all controllers are written in SMT-LIB 2, before the first verification.
        jobs: The number of processes that verify. The verdicts do not depend on this number; traces of violations may.
        cluster: The address of a Dask cluster that verifies instead of processes.
        solver: SolverOptions; the timeout is for each controller.

    Returns:
        An iterator over a Judgement for each controller, in the order of the controllers. Each step of the iterator
        verifies one controller.

    Raises:
        InputError: If a controller cannot be read, or the file cannot be written. Iteration raises it as `verify` does.
        Disagreement: If two solvers disagree during iteration.
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
    """Return an iterator over a Judgement for each pair of a query and a controller, in order."""
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
    """Return the result of `_judgements`, computed by other processes or machines."""
    from ccmatic.base.workers import Team

    with Team(jobs, cluster) as team:
        yield from verification.judge_each(team, pairs, solver)


def ask(
    controller: Given | Sequence[Given],
    on: str,
    expect: str,
    *,
    start: str | None = None,
    horizon: int | None = None,
    period: int | None = None,
    given: str = "",
) -> "Question":
    """Ask whether a controller meets an expectation on a network (docs/reference/expectations.md).

    Args:
        controller: The controller, or one for each flow of the network.
        on: The network, such as `ccac, buffer 1 bdp, jitter 1 rtt` or `24 mbit, rtt 40 ms, buffer 1 bdp`.
        expect: The expectation, such as `utilisation >= 80% over every 10 rtt` or `share >= 20% beside cubic`.
        start: The states in which executions begin: `any`, `start`, `informed`, `converged`, or conditions such as
            `window <= 2 bdp`. The default is `converged` for controllers with state, unless a period is given, and
            otherwise `any`.
        horizon: T, the number of steps from the start on. By default, as many steps as the expectation needs, but at
            least 4 R_m, and an R_m more for each BDP that has to wait until the expectation breaks.
        period: If given, only executions that repeat after this many steps, and so may go on for ever, count.
        given: Further conditions on executions, in the language of `avoids`, separated by `;`.

    Returns:
        The Question, which `answer` decides.

    Raises:
        InputError: If a text cannot be read, or if the network cannot express the expectation.

    Examples:
        >>> cm.answer(cm.ask("cc_qdel", "ccac, buffer 1 bdp", "queue <= 4 bdp"))
    """
    from ccmatic import questions

    return questions.ask(controller, on, expect, start, horizon, period, given)


def answer(
    question: "Question", *, smt2: str | Path | None = None, solver: SolverOptions = SolverOptions()
) -> Judgement:
    """Decide a Question that `ask` returned.

    Args:
        question: The Question.
        smt2: A file to which the solver's formulas are written in SMT-LIB 2.
        solver: SolverOptions.

    Returns:
        The Judgement. Its verdict is `holds`, `violated` or `unknown`.

    Raises:
        InputError: If no execution satisfies the start and the conditions, so that every expectation would hold.
        Disagreement: Two solvers disagree.
    """
    return next(answer_all([question], smt2=smt2, solver=solver))


def answer_all(
    asked: "Sequence[Question]",
    *,
    smt2: str | Path | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    solver: SolverOptions = SolverOptions(),
) -> Iterator[Judgement]:
    """Decide several Questions as `answer` does. Consecutive questions about the same network share its encoding.

    Args:
        asked: The Questions.
        smt2: As in `verify_all`.
        jobs: The number of processes that decide.
        cluster: The address of a Dask cluster that decides instead of processes.
        solver: SolverOptions.

    Returns:
        An iterator over a Judgement for each question, in the order of the questions. Each step of the iterator decides
        one.
    """
    pairs = [(each.query.of_small_packets(), each.controller) for each in asked]
    return _with_horizons_named(asked, _judgements(pairs, smt2, jobs, cluster, solver))


def _with_horizons_named(asked: "Sequence[Question]", judgements: Iterator[Judgement]) -> Iterator[Judgement]:
    """Yield the judgements, whose traces state the paths of their questions.

    If a default horizon causes an error, the message states that the horizon is the default.
    """
    for question in asked:
        with question.defaults_named():
            judgement = next(judgements)
        yield question.on_path(judgement)


def decide(network: str | Path, property: str | Path, *, timeout: float | None = None) -> "Decision":
    """Decide a property of one decision of a network, exactly (docs/reference/learning.md).

    Args:
        network: An ONNX file of a network that is piecewise linear.
        property: A VNN-LIB 1.0 file, which describes a violation.
        timeout: The number of seconds for the search; None for no limit.

    Returns:
        The Decision. A violation contains inputs that show it.

    Raises:
        InputError: If a file contains no such network or property, or the two do not fit each other.
    """
    from ccmatic.language import neural as networks

    function = networks.piecewise(networks.read(network))
    violation = networks.read_property(property)
    with located(str(property)):
        return networks.decide(function, violation, inf if timeout is None else timeout)


@isolated
def worst(
    controller: "Given | Sequence[Given] | Question",
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
) -> "WorstCase":
    """Find the worst value that a network can force on a controller, to an edge.

    The solver proves one side of the edge, and a trace shows the other. Packets are bounded as in `verify`.

    Args:
        controller: The controller, or one for each flow of the network. This argument may also be a Question from
            `ask`. The Question then sets the network, the quantity and the start. The amount in the Question is one of
            the decided values.
        network: The network.
        of: The quantity: `utilisation`, `loss` (per R_m), `queue`, `delay` or `window`. With several flows also
            `share`, the smallest share of the served bytes that a flow gets. With two flows also `jain`, Jain's index
            for that share. A condition on x is possible as well (docs/reference/worst.md).
        start: The start of executions: `any`, or `empty`, which means that the queue is empty and no packet has been
            lost.
        given: If given, only executions that satisfy this condition count.
        period: If given, only executions that repeat after this many steps, and so may go on for ever, count. The
            network's horizon is then at least 2·period + 1.
        at: If given, the only x to decide. Otherwise x is searched from low to high, up to the resolution.
        low: The lower end of the search.
        high: The upper end of the search.
        resolution: The largest distance between the proved bound and the value that a trace reaches.
        told: A function that is called with each x before the x is decided.
        solver: SolverOptions; the timeout is for each x.

    Returns:
        The WorstCase, with the proved bound, the worst value that was found, and a trace that shows this value.

    Raises:
        InputError: If a text cannot be read, or if no execution satisfies the conditions.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.worst("copa", cm.Network("ccac2021", buffer="infinite", horizon=13), period=6).some
    """
    from ccmatic.answers import worst_case
    from ccmatic.questions import Question

    among = {"at": at, "low": low, "high": high, "resolution": resolution}
    if isinstance(controller, Question):
        return next(worst_case.search_each([controller], among, told, options=solver))
    if not isinstance(network, Network):
        raise InputError(f"{shown(network)} is no network; expected a Network, such as Network('ccac', 'any', 11)")
    about = {"start": start, "given": given, "period": period, "listener": told}
    return worst_case.search(controller, network, of, **about, **among, options=solver)


def worst_all(
    asked: "Sequence[Question]",
    *,
    at: Fraction | int | str | None = None,
    low: Fraction | int | str | None = None,
    high: Fraction | int | str | None = None,
    resolution: Fraction | int | str | None = None,
    told: Callable[[Fraction], None] = lambda x: None,
    jobs: int = 1,
    cluster: str | None = None,
    solver: SolverOptions = SolverOptions(),
) -> "Iterator[WorstCase]":
    """Find the worst value of each question's expectation, as `worst` does.

    Args:
        asked: The Questions that `ask` returned.
        at: As in `worst`, in the unit of each expectation.
        low: The lower end of the search, in the unit of each expectation.
        high: The upper end of the search, in the unit of each expectation.
        resolution: The largest distance between the two sides of an edge value, in the unit of each expectation.
        told: A function that is called with each x before the x is decided, if this process does the work.
        jobs: The number of processes that search. The edge values do not depend on this number; traces may.
        cluster: The address of a Dask cluster that searches instead of processes.
        solver: SolverOptions; the timeout is for each x.

    Returns:
        An iterator over the WorstCase of each question, in the order of the questions. Each step of the iterator does
        one search.
    """
    from ccmatic.answers import worst_case

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
    """Find the smallest share of a shared link that a network can leave to one flow (docs/starvation.md).

    Args:
        controller: The controller, which must send by a window.
        beside: The controller of the other flow. By default, all flows run the same controller.
        on: The network in the question language. By default, each flow has its own jitter of one R_m. The default
            buffer is infinite, or 1/4 bdp if a controller slows down only after losses.
        periods: The periods to try, in order. An execution that repeats after a period may go on for ever.
        told: A function that is called with a description of each search when the search begins.
        solver: SolverOptions; the timeout is for all periods together.

    Returns:
        The Starvation. Its verdict is `starves`, `does not starve` or `unknown`.

    Raises:
        InputError: If a controller sends at a rate, or the network has only one flow or cannot be read.
        Disagreement: Two solvers disagree.

    Examples:
        >>> cm.starve("vegas").share
    """
    from ccmatic.answers import starvation

    return starvation.search(controller, beside, on, periods, told, options=solver)


def estimate(
    trace: Trace | str | Path,
    network: Network | None = None,
    *,
    told: "Callable[[Estimate], None]" = lambda estimate: None,
) -> "list[Estimate]":
    """Compute the sender's possible knowledge of its path at the end of each step of a trace, except the first step.

    Args:
        trace: The trace, or its file.
        network: The network; by default, the trace's network. The horizon of the network is the number of steps that
            the sender looks back. To bound the link rate C, the sender uses all earlier steps.
        told: A function that is called with each Estimate as soon as the Estimate is computed.

    Returns:
        The Estimates. The field `possible` has the exact range of each quantity, over all executions of the network
        with the same observations. The field `declared` has the model's beliefs.

    Raises:
        InputError: If no execution of the network matches the trace. The error names the laws that the trace breaks.

    Examples:
        >>> cm.estimate("results/gallery/late_drain.json")[-1].possible.C
    """
    from ccmatic.answers import estimation

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
    """Return the network of a trace with some values replaced, for `estimate`.

    Args:
        trace: The trace, or its file.
        model: A model that replaces the trace's model, as in `Network`.
        buffer: A buffer that replaces the trace's buffer.
        jitter: A jitter that replaces the trace's jitter.
        horizon: The number of steps that a sender looks back. By default, all steps of the trace.
        allow_code: Whether to run the file that the trace names as its model. Otherwise only shipped models are
            accepted.

    Returns:
        The Network. The Network allows all executions, including executions outside the published model.

    Raises:
        InputError: If a value does not fit any network.

    Examples:
        >>> cm.estimate("results/gallery/late_drain.json", cm.network_of("results/gallery/late_drain.json", jitter=2))
    """
    from ccmatic.answers import estimation

    made: Network = estimation.network_of(_loaded(trace), model, buffer, jitter, horizon, allow_code)
    return made


def replay(trace: Trace | str | Path, *, allow_code: bool = False) -> Report:
    """Check every law that a trace must obey by exact arithmetic, without a solver.

    Args:
        trace: The trace, or its file.
        allow_code: Whether to run the files that the trace names as model or property. Otherwise only shipped ones are
            accepted.

    Returns:
        The Report. Its `faults` list the laws that the trace breaks. Its `outcome` states whether the trace breaks its
        property.

    Raises:
        InputError: If the file is no trace, or the trace lacks a value that its query needs.
    """
    if isinstance(trace, Trace):
        return verification.replay(trace, None, allow_code)
    return verification.replay(Trace.load(str(trace)), str(trace), allow_code)


def measure(trace: Trace | str | Path, expectation: str, *, allow_code: bool = False) -> ExpectationRecord:
    """Judge a trace by an expectation (docs/reference/expectations.md), exactly.

    `measure` does not check whether the trace obeys the laws of its network; `replay` does.

    Args:
        trace: The trace or its file, such as a counterexample or the trace of a simulated run.
        expectation: The expectation, such as `utilisation >= 80% over every 4 rtt`.
        allow_code: As in `replay`.

    Returns:
        The verdict (`met`, `not met` or `not applicable`), and the worst value with the steps at which it occurs.

    Raises:
        InputError: If the expectation cannot be read, or the trace does not show its quantity.

    Examples:
        >>> cm.measure("results/gallery/late_drain.json", "queue <= 4 bdp").verdict
    """
    from ccmatic import questions

    return questions.measure(_loaded(trace), expectation, allow_code)


@isolated
def explain(trace: Trace | str | Path, *, report: Report | None = None, allow_code: bool = False) -> "Explanation":
    """Explain a trace in sentences with numbers.

    The sentences state which part of the property is broken, and why no exception applies. The sentences also describe
    the actions of the network, and name the part of the controller's code that chose the rates.

    Args:
        trace: The trace, or its file.
        report: The Report from the trace's replay, as a Judgement has it. By default, the trace is replayed.
        allow_code: As in `replay`.

    Returns:
        The Explanation.

    Raises:
        InputError: If `replay` refuses the trace.
    """
    from ccmatic.answers import explanation

    return explanation.explain(_loaded(trace), report or replay(trace, allow_code=allow_code))


@isolated
def trace_page(trace: Trace | str | Path, *, report: Report | None = None, allow_code: bool = False) -> str:
    """Show a trace step by step on an HTML page that needs no other file.

    Args:
        trace: The trace, or its file.
        report: The Report from the trace's replay. By default, the trace is replayed.
        allow_code: As in `replay`.

    Returns:
        The text of the page.

    Raises:
        InputError: If `replay` refuses the trace, or if a number is too large to draw.
    """
    from ccmatic.answers import explanation

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
        mss: The size of a packet in bytes.
        lead: The time of silence, in whole milliseconds, before a link trace of mahimahi; a sender can fill the queue
            in this time.
        allow_code: Whether to run the file that the trace names as its model. Otherwise only shipped models are
            accepted.

    Returns:
        The content of the file to write, and notes. Each note is a sentence about a quantity that the format omits or
        rounds.

    Raises:
        InputError: If the trace cannot be exported to this format.

    Examples:
        >>> cm.export_trace("results/gallery/late_drain.json", "schedule", rate="24mbit", rtt="40ms")
    """
    from ccmatic.networks import trace_export

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
