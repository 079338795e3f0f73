"""The prover. The prover decides the lemmas of a proof about a controller, for given values of the constants."""

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic

from ccmatic import query as queries
from ccmatic import verification
from ccmatic.base import Clock, InputError, OutOfTime, blamed, definitions
from ccmatic.contracts import Lemma, RecordingDict, Values, WayToFail, load_definition
from ccmatic.controllers import require_order
from ccmatic.logic import no
from ccmatic.proving import deduction, fit, progress
from ccmatic.solving import SAT, UNKNOWN, UNSAT, SolverOptions
from ccmatic.traces import Trace
from ccmatic.verification import HOLDS, UNDECIDED, VIOLATED, Executions, Part, Unsound

VERDICTS = {UNSAT: HOLDS, SAT: VIOLATED, UNKNOWN: UNDECIDED}


@dataclass(frozen=True)
class Answer:
    """The answer to a lemma.

    Attributes:
        lemma: The name of the lemma.
        verdict: HOLDS, VIOLATED or UNDECIDED.
        seconds: The duration of the check in seconds.
        trace: A window that breaks the lemma, confirmed by replay. None unless the verdict is VIOLATED.
        empty: Whether the lemma holds because no window satisfies its premise.
    """

    lemma: str
    verdict: str
    seconds: float
    trace: Trace | None = None
    empty: bool = False


@dataclass(frozen=True)
class Optimum:
    """The best value of a constant.

    Attributes:
        value: The best value.
        edge: The Answer that shows that the next better value fails. The edge is None if the range ends at the value,
            or if the author chose the value.
        front: Pairs of numbers; None if the constant has no front. A pair consists of a value of the preceding constant
            and this constant's best value for it (None if no value works).
    """

    value: Fraction
    edge: Answer | None = None
    front: tuple[tuple[Fraction, Fraction | None], ...] = ()


class NoValue(InputError):
    """The error that no value in the range of a constant works.

    Attributes:
        constant: The name of the constant.
        trace: A window that breaks a lemma at the loosest value, or None.
        result: The Result so far; None if the error did not come from `prove`.
    """

    def __init__(self, message: str, constant: str, trace: Trace | None) -> None:
        super().__init__(message)
        self.constant, self.trace, self.result = constant, trace, None


def windows_of(name, proof, horizon, lemma=""):
    """Return the Query whose executions are all windows of all senders on the network of a Proof.

    Args:
        name: The name or path of the proof.
        proof: The Proof.
        horizon: The number of steps T in a window.
        lemma: The name of the lemma that a window may violate.
    """
    about = {"proof": name, "lemma": lemma}
    lemma_property = definitions.chosen("properties", "LEMMA")
    return queries.make(proof.model, proof.buffer, horizon, proof.jitter, "executions", lemma_property, about)


class Prover:
    """A prover of lemmas about a controller. One incremental solver serves all lemmas.

    The lemmas are statements about the windows of every execution.

    Args:
        name: The name or path of the proof.
        controller: The controller, in a form that `controllers.given` accepts.
        horizon: A number of steps T that replaces the proof's own T.
        options: The SolverOptions. The timeout applies to each question about a lemma.

    Attributes:
        listen: A function. The prover calls it before each check of a lemma, with the lemma's name and the values of
            its constants.
    """

    listen = staticmethod(lambda lemma, values: None)

    @blamed()
    def __init__(self, name, controller, horizon=None, options=SolverOptions()):
        self.name = definitions.absolute(name)
        proof = load_definition("proofs", "PROOF", name, allow_code=True)
        horizon = proof.horizon if horizon is None else horizon
        self.query = windows_of(self.name, proof, horizon)
        self.controller = fit.controller_of(name, proof, self.query, controller)
        self.proof = proof = proof.about(self.controller.state)
        require_order(self.controller, self.query.jitter)
        if proof.common > 1 and not (self.query.model.windows and proof.common < horizon):
            problem = f"windows of {horizon} steps have {proof.common} in common on {self.query.model.name}"
            raise InputError(f"{problem}; expected longer ones of senders by a window, or one step in common")
        self.lemmas = {lemma.name: lemma for lemma in proof.all_lemmas(self.query.model)}
        reads = {*proof.beliefs, *self.controller.parameters} & self.query.units().keys()
        way = WayToFail("a window", lambda x: True, reads=tuple(reads))
        self._clock = Clock.of(options.timeout)
        self._part = Part(self.query, way, options.with_clock(self._clock), (), self.controller.state)
        self._executions = Executions(self._part, self.controller)
        self._windows, self._proved = [], {}

    @property
    def left_out(self):
        """The Exclusions that apply to all answers about the controller."""
        return queries.left_out(self.query, self.controller)

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
            answer, trace = self._executions.find(given, no(then))
        if trace:
            self._windows.append((trace, self._observed(trace)))
            trace = self._replayed(trace, lemma, used)
        decision = Answer(lemma.name, VERDICTS[answer], monotonic() - begin, trace)
        if decision.verdict == HOLDS:
            self._proved[question] = decision
        return decision

    @blamed()
    def confirm(self, answer, constants):
        """Check that a lemma which holds is not vacuous, and return the final Answer.

        The solver looks for a window that satisfies the premise, and the prover replays this window. If no such window
        exists and the lemma permits this, the Answer is `empty`.

        Raises:
            InputError: If no window satisfies the premise, and the lemma does not permit this.
        """
        if answer.verdict != HOLDS:
            return answer
        begin, existence = monotonic(), UNKNOWN
        lemma, part = self.lemmas[answer.lemma], self._part
        given = lemma.given(part.x, RecordingDict(constants))
        with suppress(OutOfTime), self._clock.question():
            existence, part.trace = self._executions.find(given)
        if existence == SAT:
            part.replays(self.query_of(lemma, constants))
        elif existence == UNSAT and not (lemma.empty or lemma.paper):
            raise part.contradiction("window", self.controller, {f"what '{lemma.name}' is about": given})
        verdict = UNDECIDED if existence == UNKNOWN else HOLDS
        return replace(answer, verdict=verdict, seconds=answer.seconds + monotonic() - begin, empty=existence == UNSAT)

    @blamed()
    def constants_of(self, lemma):
        """Return the names of the constants that a lemma reads."""
        _, _, used = self._evaluated(lemma, {constant.name: constant.low for constant in self.proof.constants})
        return {*used}

    def limits(self, constant):
        """Return the lemmas that limit a constant.

        These lemmas read the constant. The search finds the other constants in these lemmas earlier than this constant,
        or together with it.
        """
        names = [other.name for other in self.proof.constants]
        decided = {*names[: names.index(self.proof.joined_with(constant)[-1].name) + 1]}
        lemmas = [lemma for lemma in self.lemmas.values() if not lemma.paper]
        reads = {lemma.name: self.constants_of(lemma) for lemma in lemmas}
        return [lemma for lemma in lemmas if constant.name in reads[lemma.name] <= decided]

    def first_fault(self, lemmas: list[Lemma], values: Values) -> Answer | None:
        """Return the Answer to the first lemma that does not hold, or None.

        This lemma moves to the front of the list, and the lemmas before it move to the end. If an earlier window
        already breaks a lemma, the method runs no solver.
        """
        # A replay of earlier windows costs little time. So all lemmas are first checked by replays, and only then by a
        # solver.
        for answers in (self._earlier_fault, self.ask):
            for place, lemma in enumerate(lemmas):
                answer = answers(lemma, values)
                if answer and answer.verdict != HOLDS:
                    lemmas[:] = [lemma, *lemmas[place + 1 :], *lemmas[:place]]
                    return answer
        return None

    def _earlier_fault(self, lemma, values):
        """Return the Answer to a lemma if an earlier window breaks the lemma, or None."""
        trace = self._breaking(lemma, values)
        if trace is None:
            return None
        _, _, used = self._evaluated(lemma, values)
        return Answer(lemma.name, VIOLATED, 0, self._replayed(trace, lemma, used))

    def known_to_fail(self, lemmas, values):
        """Return whether an earlier window breaks one of the lemmas."""
        return any(self._breaking(lemma, values) is not None for lemma in lemmas)

    def _breaking(self, lemma, values):
        """Return an earlier window that breaks a lemma, or None."""
        for trace, x in self._windows:
            if lemma.given(x, RecordingDict(values)) is True and lemma.then(x, RecordingDict(values)) is False:
                return trace
        return None

    @blamed()
    def learn(self, windows):
        """Add windows from other proofs, so that the solver need not check a lemma that such a window breaks.

        Each window is a Trace that breaks a lemma for some controller. A replay selects the windows that are also
        executions of this prover's controller.
        """
        for window in windows:
            trace, outcome = replace(window, controller=self.controller.source), None
            with suppress(InputError):
                outcome = verification.replay(trace).outcome
            if outcome is verification.Outcome.BREAKS:
                self._windows.append((trace, self._observed(trace)))

    @blamed()
    def admits(self, answer, values):
        """Return whether the lemma of an Answer holds on the Answer's window for these values of the constants."""
        return self.lemmas[answer.lemma].then(self._observed(answer.trace), RecordingDict(values)) is True

    @blamed()
    def faults(self, values):
        """Return the reasons why the lemmas would not add up to a proof even if all lemmas hold."""
        faults = progress.faults(self.proof, self.query.model, self._part.x, RecordingDict(values))
        return [*faults, *self._faults_of_sender()]

    @blamed()
    def derivations(self, values):
        """Return a Derivation for each corollary of the proof: the decision whether it follows from the lemmas."""
        return deduction.derive(self.proof, self.query, values, self.controller.state)

    def outgrown(self):
        """Return the names of state variables that may leave the declared initial values within a window."""
        trace = self.ask(self.lemmas["windows join"], {}).trace
        if trace is None:
            return []
        x = self._observed(trace)
        shared = range(self.proof.end(x), x.horizon)
        return [each.name for each in self.controller.state if not all(each.first(x.flows[0], t) for t in shared)]

    def require_joined(self):
        """Raise NoValue if no values of the constants let windows join, and OutOfTime if the solver times out."""
        joined = "windows join"
        answer, faults = self.ask(self.lemmas[joined], {}), self._faults_of_sender()
        if answer.verdict == UNDECIDED:
            raise OutOfTime(f"no answer in time on '{joined}'")
        if faults or answer.trace:
            reasons = [*faults, *([f"'{joined}' is {answer.verdict}"] if answer.trace else [])]
            raise NoValue("; ".join(reasons), joined, answer.trace)

    def _faults_of_sender(self):
        model, x = self.query.model, self._part.x
        if model.windows:
            return [*progress.faults_of(self.controller, x, self.proof.common)]
        beyond = queries.beyond_window(model, self.controller, x.flows[0])
        sentence = "{0} distinguishes values of {1} above {2}, and windows of {3} steps do not"
        return [sentence.format(self.controller.name, *each, x.horizon) for each in beyond]

    @blamed()
    def question(self, lemma, constants):
        """Return formulas whose solutions are exactly the windows that break the lemma.

        A certificate proves that these formulas are unsatisfiable.
        """
        query = self.query_of(lemma, constants)
        (way,) = query.property.ways_to_fail(query.model, query.buffer)
        return Part(query, way, SolverOptions(), self._part.reads, self.controller.state).question(self.controller)

    def query_of(self, lemma, constants):
        """Return the query about a single lemma, with the values of the constants that the lemma reads."""
        _, _, used = self._evaluated(lemma, constants)
        return replace(self.query, property=self.query.property.of(lemma.name, used))

    def _evaluated(self, lemma, constants):
        """Return a lemma's premise and conclusion, and the constants that they read."""
        reads = RecordingDict(constants)
        with fit.state_is_there(self.name, self.controller):
            given, then = lemma.given(self._part.x, reads), lemma.then(self._part.x, reads)
        return given, then, {name: value for name, value in constants.items() if name in reads.names}

    def _observed(self, trace):
        """Return a window as an Execution of numbers."""
        return self.query.observed(trace, self._part.reads & trace.columns.keys(), self.controller.state)

    def _replayed(self, trace, lemma, constants):
        """Replay the window, and return the window with the lemma as its property."""
        trace = replace(trace, query=self.query_of(lemma, constants).record(), broken=())
        report = verification.replay(trace, allow_code=True)
        if report.outcome is not verification.Outcome.BREAKS:
            raise Unsound(f"a window that breaks '{lemma.name}' fails replay: {report}")
        return verification.explained(trace, report)
