"""Expectations for all time: proved by an invariant, refuted by an execution, or unknown."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import process_time
from typing import Any, Literal

from pysmt.shortcuts import Symbol
from pysmt.typing import REAL

from ccmatic import questions
from ccmatic.answers.verification import VIOLATED, Judge
from ccmatic.base import BYTES, NUMBER, TIME, Clock, InputError, writable_folder
from ccmatic.contracts import Exclusion, file_stem
from ccmatic.controllers import Given
from ccmatic.logic import Truth, isolated, no
from ccmatic.logic.solving import SAT, SolverOptions
from ccmatic.networks.traces import Trace
from ccmatic.proving.enclosures.proof import attempt
from ccmatic.proving.invariants.claims import Claim
from ccmatic.proving.invariants.engine import Answer
from ccmatic.proving.invariants.first_steps import FirstSteps, search
from ccmatic.proving.invariants.forms import answer, checker_of, comparisons
from ccmatic.proving.invariants.lasting import as_value
from ccmatic.proving.invariants.proof import Proved, require_budget
from ccmatic.proving.invariants.transition import TransitionSystem, derive
from ccmatic.questions import Question
from ccmatic.questions.query import Query, left_out, left_out_of_trace

#: The start of the executions, unless the user names another one.
START = "informed"

#: The bytes in C·R_m by which an interval may fall short of a utilisation, unless the expectation states K.
SHORT = 8

#: The largest period of the repeating executions, and the largest horizon of the executions that may refute a claim.
PERIODS, LONGEST = range(1, 5), 12

#: The periods of the executions that are searched for before an invariant, and the most CPU seconds of this search, at
#: most a tenth of the budget. Such executions refute most false claims about utilisation, and an absent one costs less
#: than a second.
EARLY, EARLY_SECONDS = range(1, 3), 4

#: The units of the amounts that an invariant bounds: a share, or multiples of C·R_m.
_UNITS = ("", "bdp")

#: The relations in the names of files. A relation stands behind those that contain it.
_WORDS = {"<=": "at most", ">=": "at least", "<": "below", ">": "above"}


#: A number of steps that no bounded state of a controller reaches.
LARGE = 10**6

#: For a state of each unit, an amount by which a counter grows, and an example of its limit.
STOPS = {NUMBER: ("1", "5"), TIME: ("step", "5 * R_m"), BYTES: ("MSS", "100 * MSS")}

#: The steps after the start of an execution, within which a test of the time says little about later steps.
SOON = 10


@dataclass(frozen=True)
class Decided:
    """The verdict on an expectation for all time.

    Attributes:
        question: The question, about the start of the executions.
        claim: The claim that the expectation states; None if no invariant proves such an expectation.
        verdict: `proved`, `refuted` or `unknown`.
        proved: The outcome of the search for an invariant, or None.
        trace: The execution that refutes the expectation, or None.
        why: The reason for an unknown verdict.
        period: The period of the execution, in steps, if it repeats for ever.
        first: The proof of an expectation about the first steps, or None.
        seconds: The CPU seconds of the search, if it did not search for an invariant.
    """

    question: Question
    claim: Claim | None
    verdict: Literal["proved", "refuted", "unknown"]
    proved: Proved | None = None
    trace: Trace | None = None
    why: str = ""
    period: int | None = None
    first: FirstSteps | None = None
    seconds: float = 0

    @property
    def name(self) -> str:
        """The name of the file of the invariant, without its suffix."""
        expected = self.question.text
        for relation, words in _WORDS.items():
            expected = expected.replace(relation, words)
        text = f"{self.question.controller.name} {expected} on {self.question.description.text}"
        return file_stem(text if self.question.start == START else f"{text} from {self.question.start}")

    @property
    def left_out(self) -> tuple[Exclusion, ...]:
        controller = self.question.controller
        if self.verdict == "refuted":
            return left_out_of_trace(controller)
        return left_out(self.question.query.of_small_packets(), controller)

    def save(self, folder: str | Path) -> Path | None:
        """Write the proof, or the execution that refutes the expectation, to a folder; return its file, or None."""
        if self.first:
            return self.first.save(folder, self.name)
        if self.proved and self.proved.invariant:
            return self.proved.save(folder, self.name)
        if self.trace is None:
            return None
        file: Path = writable_folder(Path(folder)) / f"{self.name}-refuted.json"
        self.trace.save(file)
        return file


def asked(controller: Any, on: str, expect: str, start: str | None = None) -> Question:
    return questions.ask(controller, on, expect, start=start or START)


def claim_of(question: Question) -> Claim:
    """Return the claim that an expectation states."""
    expectation = question.expectation
    comparison, R = expectation.comparison, question.query.model.round_trip(1)
    if expectation.conditions or expectation.beside or expectation.interval is not None:
        raise InputError(f"no invariant proves '{expectation}'; expected a bound of all steps, or a utilisation")
    if comparison.unit not in _UNITS:
        expected = "an amount in bdp of the queue, the window, the loss or a state, or a share of the link"
        raise InputError(f"no invariant proves '{expectation}'; expected {expected}")
    relation: Literal["<=", ">="] = "<=" if comparison.relation in ("<", "<=") else ">="
    if comparison.relation in ("<", ">"):
        raise InputError(f"an invariant proves no strict inequality; expected '{relation}' in '{expectation}'")
    if comparison.subject == "utilisation":
        within = expectation.within if expectation.within is not None else Fraction(SHORT)
        return Claim("utilisation", relation, comparison.amount, within * R)
    scale = R if comparison.unit == "bdp" else 1
    return Claim(comparison.subject, relation, comparison.amount * scale)


def prove_by_invariant(
    controller: Given,
    on: str,
    expect: str,
    *,
    start: str | None = None,
    seconds: float = 60,
    jobs: int = 2,
) -> Decided:
    """Prove that a controller meets an expectation for all time, by an inductive invariant, or refute it.

    The search needs no window, state or constant. An invariant is a set of states that holds all initial states, that
    no step leaves, and in which the expectation is met.

    Args:
        controller: The controller.
        on: The network, as in `ask`.
        expect: A bound of all steps, such as `queue <= 7 bdp`, or a least utilisation. `utilisation >= 3/4 within 8
            bdp` states that each interval of t R_m serves at least 3/4·t - 8 C·R_m; 8 is the default. Or conditions
            that hold for the first time after at most N R_m, such as `converged within 8 rtt`.
        start: The start of the executions, as in `ask`. By default `informed`: from an empty network, with a lower
            bound on the link rate of at least C/2.
        seconds: The budget of the search, in CPU seconds of each process. The search for an execution that refutes the
            expectation may take as long, by the clock.
        jobs: The number of processes.

    Returns:
        A Decided: `verdict` is `proved`, `refuted` or `unknown`. A proof is in `proved.invariant`, with certificates;
        a proof about the first steps is in `first`.
        An execution in `trace` refutes a bound. A rate is refuted by an execution that repeats for ever, from any
        start.

    Raises:
        InputError: If no invariant proves such an expectation, or the network has no transition system.

    Examples:
        >>> cm.prove_by_invariant("cc_qdel", "ccac, buffer infinite", "queue <= 7 bdp").verdict
        'proved'
    """
    question = asked(controller, on, expect, start)
    require_budget(seconds)
    if question.expectation.by is not None:
        return _first_steps(question, seconds)
    claim = claim_of(question)
    if claim.is_vacuous:
        return Decided(question, claim, "unknown", why="K allows that the link serves nothing for 1,000 R_m")
    early = _refuted(question, claim, _repeating(question, claim, EARLY), min(EARLY_SECONDS, seconds / 10))
    if early:
        return early
    # An invariant is about single steps, before which a sender has observed anything.
    query = questions.without_history(question.query, question.controller)
    proved = attempt(query.of_small_packets(), question.controller, claim, seconds, jobs)
    if proved.answer is Answer.PROVED:
        return Decided(question, claim, "proved", proved)
    return refute(question, claim, proved, seconds)


def _first_steps(question: Question, seconds: float) -> Decided:
    begin = process_time()
    first, trace = search(question.query.of_small_packets(), question.controller, seconds)
    verdict: Literal["proved", "refuted", "unknown"] = "proved" if first else "refuted" if trace else "unknown"
    why = "" if first or trace else "the solver timed out"
    return Decided(question, None, verdict, trace=trace, why=why, first=first, seconds=process_time() - begin)


def refute(question: Question, claim: Claim, proved: Proved, seconds: float) -> Decided:
    """Return the verdict on a claim that no invariant proved: an execution refutes it, or it is unknown."""
    refuted = _refuted(question, claim, _searches(question, claim), seconds, proved)
    if refuted:
        return refuted
    why = "no invariant was found in time" if proved.answer is Answer.UNKNOWN else "a step allows more than executions"
    reasons = (
        f"{why}, and no execution of few steps breaks it",
        *unbounded(question.query.of_small_packets(), question.controller),
    )
    return Decided(question, claim, "unknown", proved, why="; ".join(reasons))


def _refuted(
    question: Question,
    claim: Claim,
    searches: Iterable[tuple[int | None, Query]],
    seconds: float,
    proved: Proved | None = None,
) -> Decided | None:
    begin = process_time()
    for period, query in searches:
        trace = _violation(query, question.controller, begin + seconds)
        if trace is not None:
            spent = process_time() - begin
            return Decided(question, claim, "refuted", proved, trace, period=period, seconds=spent)
    return None


def _violation(query: Query, controller: Any, end: float) -> Trace | None:
    """Return an execution that breaks the expectation of a query, or None if no solver finds one in time."""
    left = end - process_time()
    if left <= 0:
        return None
    try:
        judgement = Judge(query, options=SolverOptions(timeout=Clock(left, process_time))).judge(controller)
    except InputError:  # no execution repeats with this period, or the controller decides only later
        return None
    return judgement.trace if judgement.verdict == VIOLATED else None


def _searches(question: Question, claim: Claim) -> Iterator[tuple[int | None, Query]]:
    """Yield queries whose counterexamples refute a claim, each with the period of its executions.

    An execution of a few steps can break a bound. An execution that repeats for ever can break a utilisation for every
    K. An execution of a few steps can break a utilisation for one K, if its service falls short by more than K.
    """
    if claim.subject != "utilisation":
        network = question.query.network
        for steps in range(min(network.steps, questions.ROUNDS * network.model.round_trip(1) + 1), LONGEST + 1):
            yield None, question.query.on(horizon=network.history + steps).of_small_packets()
        return
    yield from _repeating(question, claim, PERIODS)
    R, short = question.query.model.round_trip(1), claim.within or 0
    for rounds in range(1, LONGEST // R):
        share = claim.amount - short / (R * rounds)
        if share > 0:
            text = f"utilisation >= {share} over every {rounds} rtt"
            falls = questions.ask(question.controller, question.description.text, text, start=question.start)
            yield None, falls.query.of_small_packets()


def _repeating(question: Question, claim: Claim, periods: Iterable[int]) -> Iterator[tuple[int, Query]]:
    if claim.subject != "utilisation":
        return
    text = question.text.partition(" within ")[0]
    for period in periods:
        repeats = questions.ask(
            question.controller, question.description.text, text, start=question.start, period=period
        )
        yield period, repeats.query.of_small_packets()


@isolated
def unbounded(query: Query, controller: Any) -> list[str]:
    """Return a sentence about each state and each time of a controller that has no bound relative to the network."""
    times = [each for each in getattr(controller, "dated", list)() if controller.observations[each].unit == TIME]
    counts = [each for each in controller.state if each.unit in STOPS]
    return list(_sentences(derive(query, controller), controller, counts, times)) if times or counts else []


def _sentences(system: TransitionSystem, controller: Any, counts: list[Any], times: list[str]) -> Iterator[str]:
    checker = checker_of((*system.current, *system.step))

    def possible(*conditions: Truth) -> bool:
        return answer(checker, *conditions) == SAT

    states = {each: Symbol(f"{each.name}_{system.now}", REAL) for each in counts}
    states = {each: before for each, before in states.items() if before in system.after}
    for each, before in states.items():
        others = [as_value(other) for about, other in states.items() if about.unit == each.unit and about is not each]
        small = [term * sign <= LARGE // 2 for term in others for sign in (1, -1)]
        if any(_grows(possible, small, as_value(before) * sign, system.after[before] * sign, each) for sign in (1, -1)):
            step, most = STOPS[each.unit]
            stops = f"`{each.name} = min({each.name} + {step}, {most})`"
            yield f"`{each.name}` (line {each.line}) has no bound; expected a state that stops, such as {stops}"
    for name in times:
        time = Symbol(f"{name}_{system.now + 1}", REAL)
        tests = [term <= 0 for term in comparisons(system.step) if time in term.coefficients]
        late = as_value(time) > SOON
        if any(possible(late, test) and possible(late, no(test)) for test in tests):
            counts_up = "`waited = min(waited + step, 5 * R_m)`"
            problem = f"`{name}` (line {controller.line_of(name)}) has no bound: it is the time since the start"
            yield f"{problem}; expected a state that counts, such as {counts_up}"


def _grows(possible: Callable[..., bool], small: list[Truth], before: Any, after: Any, memory: Any) -> bool:
    """Return whether a step can raise a state variable above LARGE, although all other variables of its unit are small.

    A window may become large as well, but some step lowers it. So a variable in bytes counts only if no step lowers it.
    """
    if memory.unit == BYTES and possible(after < before):
        return False
    return possible(before <= LARGE, after > LARGE, *small)
