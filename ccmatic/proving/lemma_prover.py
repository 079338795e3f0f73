"""The part of a prover that does not depend on what lemmas are about: their constants, and their counterexamples."""

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from time import monotonic
from typing import Any

from ccmatic.answers.verification import HOLDS, UNDECIDED, VIOLATED
from ccmatic.base import InputError, OutOfTime, blamed
from ccmatic.contracts import Lemma, RecordingDict, Values
from ccmatic.logic import no
from ccmatic.logic.solving import SAT, UNKNOWN, UNSAT
from ccmatic.networks.traces import Trace

VERDICTS = {UNSAT: HOLDS, SAT: VIOLATED, UNKNOWN: UNDECIDED}


@dataclass(frozen=True)
class Answer:
    """The answer to a lemma."""

    lemma: str
    verdict: str
    seconds: float
    #: A counterexample that a replay confirms: a window that breaks the lemma, or the numbers of such a round by name.
    #: None unless the verdict is VIOLATED.
    trace: Any = None
    #: Whether the lemma holds because no window satisfies its premise.
    empty: bool = False


@dataclass(frozen=True)
class Optimum:
    """The best value of a constant."""

    value: Fraction
    #: The Answer that shows that the next better value fails. The edge is None if the range ends at the value, or if
    #: the author chose the value.
    edge: Answer | None = None
    #: Pairs of numbers; None if the constant has no front. A pair consists of a value of the preceding constant and
    #: this constant's best value for it (None if no value works).
    front: tuple[tuple[Fraction, Fraction | None], ...] = ()


class NoValue(InputError):
    """The error that no value in the range of a constant works.

    `trace` is a window that breaks a lemma at the loosest value, and `result` the Result of `prove` so far; or None.
    """

    def __init__(self, message: str, constant: str, trace: Trace | None) -> None:
        super().__init__(message)
        self.constant, self.trace, self.result = constant, trace, None


class LemmaProver:
    """The common base of provers. Lemmas read constants.

    A subclass defines four methods. `_evaluated` returns a lemma's premise and conclusion, and the constants that they
    read. `_find` searches for a counterexample that satisfies conditions. `_observed` returns a counterexample in the
    form that lemmas read. `_replayed` checks a counterexample without a solver.

    The prover calls `listen` before each check of a lemma, with the lemma's name and the values of its constants.
    """

    proof: Any
    lemmas: dict[str, Lemma]
    listen = staticmethod(lambda lemma, values: None)

    def __init__(self, clock):
        self._clock = clock
        self._counterexamples, self._proved, self._truths = [], {}, {}

    @blamed()
    def ask(self, lemma, constants):
        """Return the Answer to a lemma at the given values of its constants.

        The prover decides a lemma that holds only once.
        """
        begin = monotonic()
        answer, trace = UNKNOWN, None
        given, then, used = self._evaluated(lemma, constants)
        question = lemma.name, *used.items()
        if question in self._proved:
            return self._proved[question]
        self.listen(lemma.name, used)
        with suppress(OutOfTime), self._clock.question():
            answer, trace = self._find(given, no(then))
        if trace:
            self._counterexamples.append((trace, self._observed(trace)))
            trace = self._replayed(trace, lemma, used)
        decision = Answer(lemma.name, VERDICTS[answer], monotonic() - begin, trace)
        if decision.verdict == HOLDS:
            self._proved[question] = decision
        return decision

    @blamed()
    def constants_of(self, lemma):
        _, _, used = self._evaluated(lemma, {constant.name: constant.low for constant in self.proof.constants})
        return {*used}

    def limits(self, constant):
        """Return the lemmas that limit a constant.

        These lemmas read the constant. If they read other constants, the search has found these already, or finds them
        together with this constant.
        """
        names = [other.name for other in self.proof.constants]
        decided = {*names[: names.index(self.proof.joined_with(constant)[-1].name) + 1]}
        lemmas = [lemma for lemma in self.lemmas.values() if not lemma.paper]
        reads = {lemma.name: self.constants_of(lemma) for lemma in lemmas}
        return [lemma for lemma in lemmas if constant.name in reads[lemma.name] <= decided]

    def first_fault(self, lemmas: list[Lemma], values: Values) -> Answer | None:
        """Return the Answer to the first lemma that does not hold, or None.

        This lemma moves to the front of the list, and the lemmas before it move to the end. If an earlier
        counterexample already breaks a lemma, the method runs no solver.
        """
        # A replay of earlier counterexamples costs little time. So all lemmas are first checked by replays, and only
        # then by a solver.
        for answers in (self._earlier_fault, self.ask):
            for place, lemma in enumerate(lemmas):
                answer = answers(lemma, values)
                if answer and answer.verdict != HOLDS:
                    lemmas[:] = [lemma, *lemmas[place + 1 :], *lemmas[:place]]
                    return answer
        return None

    def _earlier_fault(self, lemma, values):
        trace = self._breaking(lemma, values)
        if trace is None:
            return None
        _, _, used = self._evaluated(lemma, values)
        return Answer(lemma.name, VIOLATED, 0, self._replayed(trace, lemma, used))

    @blamed()
    def admits(self, answer, values):
        """Return whether an Answer's counterexample satisfies the lemma for these values of the constants."""
        return self.lemmas[answer.lemma].then(self._observed(answer.trace), RecordingDict(values)) is True

    def known_to_fail(self, lemmas, values):
        return any(self._breaking(lemma, values) is not None for lemma in lemmas)

    def _breaking(self, lemma, values):
        for place, (trace, _) in enumerate(self._counterexamples):
            if (
                self._truth(lemma, "given", place, values) is True
                and self._truth(lemma, "then", place, values) is False
            ):
                return trace
        return None

    def _truth(self, lemma, part, place, values):
        """Return the truth of a lemma's premise (`given`) or conclusion (`then`) in an earlier counterexample.

        The search for an edge repeats these questions for many values of a constant, so the method remembers each
        truth with the values that it depends on.
        """
        known = self._truths.setdefault((lemma.name, part, place), [])
        for used, truth in known:
            if all(values.get(name) == value for name, value in used.items()):
                return truth
        reads, (_, x) = RecordingDict(values), self._counterexamples[place]
        truth = getattr(lemma, part)(x, reads)
        known.append(({name: values[name] for name in reads.names}, truth))
        return truth
