"""Decides the lemmas of a proof about a controller, for given values of the constants."""

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from time import monotonic

from ccmatic import query as queries
from ccmatic import verification
from ccmatic.base import Clock, InputError, OutOfTime, blamed, definitions
from ccmatic.contracts import Lemma, Reads, Values, WayToFail, load_definition
from ccmatic.controllers import require_order
from ccmatic.logic import no
from ccmatic.proving import fit, progress
from ccmatic.solving import SAT, UNKNOWN, UNSAT, SolverOptions
from ccmatic.traces import Trace
from ccmatic.verification import HOLDS, UNDECIDED, VIOLATED, Executions, Part, Unsound

VERDICTS = {UNSAT: HOLDS, SAT: VIOLATED, UNKNOWN: UNDECIDED}


@dataclass(frozen=True)
class Answer:
    """verdict on a lemma: HOLDS, VIOLATED or UNDECIDED. trace: a window that breaks it, replayed. seconds: it took.
    empty: it holds as what it presupposes is true of no window."""

    lemma: str
    verdict: str
    seconds: float
    trace: Trace | None = None
    empty: bool = False


@dataclass(frozen=True)
class Optimum:
    """The best value of a constant. edge: the Answer by which the next better value fails; None at the end of its
    range, or if the author chose the value. front: (a value of the constant before, the best of this one there) …"""

    value: Fraction
    edge: Answer | None = None
    front: tuple[tuple[Fraction, Fraction | None], ...] = ()


class NoValue(InputError):
    """No value in a constant's range will do. trace: a window that breaks a lemma at the loosest, or None. result: the
    Result so far, if the proof goes on from one."""

    def __init__(self, message: str, constant: str, trace: Trace | None) -> None:
        super().__init__(message)
        self.constant, self.trace, self.result = constant, trace, None


def windows_of(name, proof, horizon, lemma=""):
    """The Query about a Proof, by its name or path, whose executions are the windows of so many steps of all senders
    on its network. lemma: the name of one that a window may break."""
    about = {"proof": name, "lemma": lemma}
    lemma_property = definitions.chosen("properties", "LEMMA")
    return queries.make(proof.model, proof.buffer, horizon, proof.jitter, "executions", lemma_property, about)


class Prover:
    """Asks a proof's lemmas about a controller, one incremental solver for all: what it is asked about are the
    windows of every execution.

    name: of the proof, or its path. controller: as of `language.given`. horizon: in place of the proof's own.
    options: SolverOptions; the timeout is for a lemma. listen: is told each lemma that is asked, and the
    values of its constants.
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
        self._windows, self._held = [], {}

    @property
    def left_out(self):
        """The exclusions that apply to all that it says of the controller, a tuple."""
        return queries.left_out(self.query, self.controller)

    @blamed()
    def ask(self, lemma, constants):
        """The Answer on a lemma for values of its constants; one that holds is asked once."""
        begin = monotonic()
        answer, trace = UNKNOWN, None
        given, then, used = self._stated(lemma, constants)
        question = lemma.name, *used.items()
        if question in self._held:
            return self._held[question]
        self.listen(lemma.name, used)
        with suppress(OutOfTime), self._clock.question():
            answer, trace = self._executions.find(given, no(then))
        if trace:
            self._windows.append((trace, self._observed(trace)))
            trace = self._replayed(trace, lemma, used)
        decision = Answer(lemma.name, VERDICTS[answer], monotonic() - begin, trace)
        if decision.verdict == HOLDS:
            self._held[question] = decision
        return decision

    @blamed()
    def confirm(self, answer, constants):
        """The Answer on a lemma that holds, once a window is known of which it says something, replayed; `empty` where
        there is none and need be none. Raises InputError where there must be one."""
        if answer.verdict != HOLDS:
            return answer
        begin, existence = monotonic(), UNKNOWN
        lemma, part = self.lemmas[answer.lemma], self._part
        given = lemma.given(part.x, Reads(constants))
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
        """The names of the constants that a lemma reads."""
        _, _, used = self._stated(lemma, {constant.name: constant.low for constant in self.proof.constants})
        return {*used}

    def limits(self, constant):
        """The lemmas that limit a constant: those that read it and none but it, those found together with it, and the
        constants before it."""
        names = [other.name for other in self.proof.constants]
        decided = {*names[: names.index(self.proof.joined_with(constant)[-1].name) + 1]}
        lemmas = [lemma for lemma in self.lemmas.values() if not lemma.paper]
        reads = {lemma.name: self.constants_of(lemma) for lemma in lemmas}
        return [lemma for lemma in lemmas if constant.name in reads[lemma.name] <= decided]

    def first_fault(self, lemmas: list[Lemma], values: Values) -> Answer | None:
        """The Answer on the first of the lemmas that does not hold, or None; it is then put first, and those before it
        last. One that a window breaks which was found before is not asked."""
        for answers in (self._known, self.ask):
            for place, lemma in enumerate(lemmas):
                answer = answers(lemma, values)
                if answer and answer.verdict != HOLDS:
                    lemmas[:] = [lemma, *lemmas[place + 1 :], *lemmas[:place]]
                    return answer
        return None

    def _known(self, lemma, values):
        """The Answer on a lemma that a window breaks which was found before, or None."""
        trace = self._breaking(lemma, values)
        if trace is None:
            return None
        _, _, used = self._stated(lemma, values)
        return Answer(lemma.name, VIOLATED, 0, self._replayed(trace, lemma, used))

    def known_to_fail(self, lemmas, values):
        """Whether one of the lemmas is broken by a window that was found before."""
        return any(self._breaking(lemma, values) is not None for lemma in lemmas)

    def _breaking(self, lemma, values):
        """A window that was found before and breaks a lemma, or None."""
        for trace, x in self._windows:
            if lemma.given(x, Reads(values)) is True and lemma.then(x, Reads(values)) is False:
                return trace
        return None

    @blamed()
    def learn(self, windows):
        """Ask those first of the windows, Traces each of which breaks a lemma of some controller, that are executions
        of this one as well, by replay."""
        for window in windows:
            trace, outcome = replace(window, controller=self.controller.source), None
            with suppress(InputError):
                outcome = verification.replay(trace).outcome
            if outcome is verification.Outcome.BREAKS:
                self._windows.append((trace, self._observed(trace)))

    @blamed()
    def admits(self, answer, values):
        """Whether a window that breaks a lemma, an Answer, is as the lemma says at these values."""
        return self.lemmas[answer.lemma].then(self._observed(answer.trace), Reads(values)) is True

    @blamed()
    def faults(self, values):
        """Why the lemmas, each true, would not add up to a proof."""
        faults = progress.faults(self.proof, self.query.model, self._part.x, Reads(values))
        return [*faults, *self._faults_of_sender()]

    def outgrown(self):
        """The names of the state that a window need not begin with as declared, as another may not end so."""
        trace = self.ask(self.lemmas["windows join"], {}).trace
        if trace is None:
            return []
        x = self._observed(trace)
        shared = range(self.proof.end(x), x.horizon)
        return [each.name for each in self.controller.state if not all(each.first(x.flows[0], t) for t in shared)]

    def require_joined(self):
        """Raise NoValue where windows do not join, whatever the constants are; OutOfTime where that is not known."""
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
        sentence = "{0} tells values of {1} above {2} apart, which windows of {3} steps do not"
        return [sentence.format(self.controller.name, *each, x.horizon) for each in beyond]

    @blamed()
    def question(self, lemma, constants):
        """The formulas that a window which breaks the lemma satisfies, for a certificate that there is none."""
        query = self.query_of(lemma, constants)
        (way,) = query.property.ways_to_fail(query.model, query.buffer)
        return Part(query, way, SolverOptions(), self._part.reads, self.controller.state).question(self.controller)

    def query_of(self, lemma, constants):
        """The query about a lemma alone, with those of the constants that it reads."""
        _, _, used = self._stated(lemma, constants)
        return replace(self.query, property=self.query.property.of(lemma.name, used))

    def _stated(self, lemma, constants):
        """What is given, what follows, and the constants that are read in them."""
        reads = Reads(constants)
        with fit.state_is_there(self.name, self.controller):
            given, then = lemma.given(self._part.x, reads), lemma.then(self._part.x, reads)
        return given, then, {name: value for name, value in constants.items() if name in reads.names}

    def _observed(self, trace):
        """A window as an Execution of numbers."""
        return self.query.observed(trace, self._part.reads & trace.columns.keys(), self.controller.state)

    def _replayed(self, trace, lemma, constants):
        trace = replace(trace, query=self.query_of(lemma, constants).record(), broken=())
        report = verification.replay(trace, allow_code=True)
        if report.outcome is not verification.Outcome.BREAKS:
            raise Unsound(f"a window that breaks '{lemma.name}' fails replay: {report}")
        return verification.explained(trace, report)
