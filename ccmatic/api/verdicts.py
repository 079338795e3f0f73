"""Verdicts on controllers, traces that show them, and what traces tell."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccmatic import __version__, explanation, questions, verification
from ccmatic.api.given import Asked, Given, asked, load_controller
from ccmatic.base import InputError, exact, quantities, shown, write_text
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
    """Whether a controller ensures a query's property on every trace of its network.

    The Judgement's `verdict` is `holds`, `violated` or `unknown` (out of time); its `trace` shows a violation, its
    `unmodelled` an execution that the published model leaves out and that breaks what holds on that model. Raises
    InputError for what is no controller of this network, or if the network has no execution; Disagreement. On networks
    of windows the question is about packets smaller than C·R_m/5, unless a given condition compares `alpha`. smt2: as
    of `verify_all`.

        cm.verify("cc_qdel", "g1_t5").trace.plot()
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
        controllers: The controllers. All are read before the first is verified.
        query: The query; see `verify`.
        smt2: The file that receives the questions about all controllers as SMT-LIB 2, before the first is verified.
        jobs: How many processes verify. The verdicts are the same with any number; a violation may have another trace.
        cluster: The address of a Dask cluster that verifies in place of processes.
        solver: SolverOptions; the timeout is for each controller.

    Returns:
        An iterator over a Judgement for each controller, in their order, which verifies a controller when it is
        advanced.

    Raises:
        InputError: A controller cannot be read, or the file cannot be written. While it is iterated over, as `verify`.
        Disagreement: Two solvers disagree, while it is iterated over.
    """
    small = asked(query).of_small_packets()
    pairs = [(small, load_controller(each, small)) for each in controllers]
    return _judgements(pairs, smt2, jobs, cluster, solver)


def _judgements(
    pairs: Sequence[tuple[Query, Decides]],
    smt2: str | Path | None,
    jobs: int,
    cluster: str | None,
    solver: SolverOptions,
) -> Iterator[Judgement]:
    """An iterator over a Judgement for each query and controller, in order."""
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
    """The same, on other processes or machines."""
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
        horizon: T in steps. None: as many as the expectation needs, at least 4 R_m.
        period: Only executions that repeat themselves after so many steps, and so may go on for ever.
        given: Further conditions on executions, in the language of `avoids`, separated by `;`.

    Returns:
        The Question, which `answer` decides.

    Raises:
        InputError: A text cannot be read, or the network cannot express the expectation.

    Example:
        cm.answer(cm.ask("cc_qdel", "ccac, buffer 1 bdp", "queue <= 4 bdp"))
    """
    return questions.ask(controller, on, expect, start, horizon, period, given)


def answer(question: Question, *, smt2: str | Path | None = None, solver: SolverOptions = SolverOptions()) -> Judgement:
    """Decide a question of `ask`.

    Args:
        question: The Question.
        smt2: The file that receives what is decided as SMT-LIB 2.
        solver: SolverOptions.

    Returns:
        The Judgement; its verdict is `holds`, `violated` or `unknown`.

    Raises:
        InputError: No execution satisfies the start and the conditions, so that anything would hold.
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
    """Decide several questions; see `answer`. The same network is encoded once for all that follow each other.

    Args:
        asked: The Questions.
        smt2: As in `verify_all`, as are the next ones.
        jobs: How many processes decide.
        cluster: The address of a Dask cluster.
        solver: SolverOptions.

    Returns:
        An iterator over a Judgement for each question, in their order, which decides a question when it is advanced.
    """
    pairs = [(each.query.of_small_packets(), each.controller) for each in asked]
    return _judgements(pairs, smt2, jobs, cluster, solver)


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
    """Find the worst value that a network can force on a controller: an edge, both sides of which are decided.

    Packets are bounded as in `verify`.

    Args:
        controller: The controller, or one for each flow of the network. Or a Question of `ask`: it says network,
            quantity and start as well, and its expectation's amount is among the values that are decided.
        network: The network.
        of: `utilisation`, `loss` (in an R_m), `queue`, `delay` or `window`; of several flows `share`, the least that a
            flow gets of what is served, and `jain`, the same of two flows with Jain's index; or a condition on x
            (docs/worst.md).
        start: `any`, or `empty`: nothing waits and nothing was lost.
        given: A condition on executions; others are left out.
        period: Only executions that repeat themselves after so many steps, and so may go on for ever. The network's
            horizon is then at least 2·period + 1.
        at: The only x that is decided. Otherwise x is looked for from low to high, up to the resolution.
        told: Is called with each x that is asked about.
        solver: SolverOptions; the timeout is for each x.

    Raises:
        InputError: Something cannot be read, or there is no such execution at all.
        Disagreement: Two solvers disagree.

    Example:
        cm.worst("copa", cm.Network("ccac2021", buffer="infinite", horizon=13), period=6).some
    """
    from ccmatic.analysis import worst_case

    among = {"at": at, "low": low, "high": high, "resolution": resolution}
    if isinstance(controller, Question):
        return _worst_of(controller, among, told, solver)
    if not isinstance(network, Network):
        raise InputError(f"{shown(network)} is no network; expected a Network, such as Network('ccac', 'any', 11)")
    about = {"start": start, "given": given, "period": period, "listener": told}
    return worst_case.search(controller, network, of, **about, **among, options=solver)


def _worst_of(
    question: Question, among: dict[str, Any], listener: Callable[[Fraction], None], solver: SolverOptions
) -> "Worst":
    """The worst case of a Question's expectation."""
    from ccmatic.analysis import worst_case

    quantity, given = question.edge()
    also = () if among["at"] is not None else (question.amount * question.scale,)
    among = {name: None if text is None else exact(text) * question.scale for name, text in among.items()}
    period = question.query.property.period
    try:
        worst = worst_case.search(
            question.controller,
            question.query.network,
            quantity,
            given="; ".join(given),
            period=period,
            also=also,
            listener=listener,
            options=solver,
            **among,
        )
        return worst.in_units(question.scale, question.expectation.comparison.written[0])
    except worst_case.NoExecution:
        where = f"{question.controller.name} {question.where}"
        raise worst_case.NoExecution(
            f"there is no execution of {where}, so that no value is the worst; expected another start or period"
        ) from None


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
    """Find who starves on a shared link: the least share that the network can leave to a flow (docs/starvation.md).

    Args:
        controller: The controller, which sends by a window.
        beside: The controller of the other flow; None: all flows run the same.
        on: The network in the question language. None: each flow has jitter of its own, of an R_m, and the buffer is
            infinite, or 1/4 bdp if losses alone slow a controller down.
        periods: Executions repeat themselves after so many steps, and so may go on for ever; they are tried in order.
        told: Receives what is tried, in words.
        solver: SolverOptions; the timeout is for all periods together.

    Returns:
        The Starvation. Its verdict is `starves`, `does not starve` or `unknown`.

    Raises:
        InputError: A controller sends at rates, or the network has one flow or cannot be read.
        Disagreement: Two solvers disagree.

    Example:
        cm.starve("vegas").share
    """
    from ccmatic.analysis import starvation

    return starvation.search(controller, beside, on, periods, told, options=solver)


def estimate(
    trace: Trace | str | Path,
    network: Network | None = None,
    *,
    told: "Callable[[Estimate], None]" = lambda estimate: None,
) -> "list[Estimate]":
    """What a sender can know of its path at the end of each step of a trace, or of the one in a file, but its first: an
    Estimate's `possible` is exact, of all executions of the network that look alike to the sender; its `declared` are
    the model's beliefs.

    network: None: the trace's. Its horizon says on how many steps the sender looks back, but for what it knows of C.
    told: receives each Estimate when it is found. Raises InputError where no execution of the network is as the trace,
    with the laws that say so.

        cm.estimate("results/gallery/late_drain.json")[-1].possible.C
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
        model: Another model. This value and the next ones are as of `Network`; None: the trace's.
        buffer: Another buffer.
        jitter: Another jitter.
        horizon: On how many steps a sender looks back. None: all of the trace.
        allow_code: Run the file that the trace names as its model. Otherwise only shipped models are accepted.

    Returns:
        The Network, of all executions.

    Raises:
        InputError: A value names no network.

    Example:
        cm.estimate("results/gallery/late_drain.json", cm.network_of("results/gallery/late_drain.json", jitter=2))
    """
    from ccmatic.learning import estimation

    made: Network = estimation.network_of(_loaded(trace), model, buffer, jitter, horizon, allow_code)
    return made


def replay(trace: Trace | str | Path, *, allow_code: bool = False) -> Report:
    """Check a trace, or the one in a file, by exact arithmetic, law by law, with no solver. The Report's `faults` are
    the laws that it breaks, and its `outcome` says whether it breaks its property.

    allow_code: run the files that it names as model or property; else it may name shipped ones only. Raises InputError
    if it is no trace, or lacks what its query needs.
    """
    if isinstance(trace, Trace):
        return verification.replay(trace, None, allow_code)
    return verification.replay(Trace.load(str(trace)), str(trace), allow_code)


def measure(trace: Trace | str | Path, expectation: str, *, allow_code: bool = False) -> ExpectationRecord:
    """Judge a trace, or the one in a file, by an expectation (docs/reference/expectations.md), exactly.

    Whether the trace obeys the laws of its network is not checked: `replay` does that.

    Args:
        trace: The trace, such as a counterexample or one of a simulated run.
        expectation: The expectation, such as `utilisation >= 80% over every 4 rtt`.
        allow_code: As in `replay`.

    Returns:
        The verdict, `met`, `not met` or `not applicable`, and the worst value with its place.

    Raises:
        InputError: The expectation cannot be read, or the trace does not show its quantity.

    Example:
        cm.measure("results/gallery/late_drain.json", "queue <= 4 bdp").verdict
    """
    return questions.measure(_loaded(trace), expectation, allow_code)


@isolated
def explain(trace: Trace | str | Path, *, report: Report | None = None, allow_code: bool = False) -> Explanation:
    """What a trace, or the one in a file, shows, in sentences with numbers: what of its property is not met and why
    nothing excuses it, what the network did, whose rates these are.

    report: of the trace's replay, such as a Judgement has; None: the trace is replayed. allow_code, and what it raises:
    as `replay`."""
    return explanation.explain(_loaded(trace), report or replay(trace, allow_code=allow_code))


@isolated
def trace_page(trace: Trace | str | Path, *, report: Report | None = None, allow_code: bool = False) -> str:
    """Show a trace, or the one in a file, step by step on an HTML page that needs no other file.

    Args:
        trace: The trace, or its file.
        report: Of the trace's replay. None: the trace is replayed.
        allow_code: As in `replay`.

    Returns:
        The text of the page.

    Raises:
        InputError: As `replay`, or a number is too large to be drawn.
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
        lead: Whole milliseconds of silence before a link trace of mahimahi, in which a sender may fill the queue.
        allow_code: Run the file that the trace names as its model. Otherwise only shipped models are accepted.

    Returns:
        The content of the file to write, and notes: a sentence for each thing that the format leaves out or rounds.

    Raises:
        InputError: The trace cannot be exported to this format.

    Example:
        cm.export_trace("results/gallery/late_drain.json", "schedule", rate="24mbit", rtt="40ms")
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
