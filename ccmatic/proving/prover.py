"""The prover. The prover decides the lemmas of a proof about a controller, for given values of the constants."""

from contextlib import contextmanager, suppress
from dataclasses import replace
from time import monotonic

from ccmatic import controllers
from ccmatic.answers import verification
from ccmatic.answers.verification import HOLDS, UNDECIDED, Executions, Part, Unsound
from ccmatic.base import CONSTANTS, Clock, InputError, OutOfTime, blamed, definitions
from ccmatic.contracts import RecordingDict, WayToFail, load_definition
from ccmatic.controllers import require_order
from ccmatic.logic.solving import SAT, UNKNOWN, UNSAT, SolverOptions
from ccmatic.proving import deduction, progress
from ccmatic.proving.lemma_prover import LemmaProver, NoValue
from ccmatic.questions import query as queries


def windows_of(name, proof, horizon, lemma=""):
    """Return the Query whose executions are all windows of T points of all senders on the network of a Proof."""
    about = {"proof": name, "lemma": lemma}
    lemma_property = definitions.chosen("properties", "LEMMA")
    return queries.make(proof.model, proof.buffer, horizon, proof.jitter, "executions", lemma_property, about)


class Prover(LemmaProver):
    """A prover of lemmas about the windows of every execution. One incremental solver serves all lemmas.

    A `horizon` replaces the T of the proof. The timeout is for each question about a lemma.
    """

    @blamed()
    def __init__(self, name, controller, horizon=None, options=SolverOptions()):
        self.name = definitions.absolute(name)
        proof = load_definition("proofs", "PROOF", name, allow_code=True)
        horizon = proof.horizon if horizon is None else horizon
        self.query = windows_of(self.name, proof, horizon)
        self.controller = controller_of(name, proof, self.query, controller)
        self.proof = proof = proof.about(self.controller.state)
        require_order(self.controller, self.query.jitter)
        if proof.common > 1 and not (self.query.model.windows and proof.common < horizon):
            problem = f"windows of {horizon} steps have {proof.common} in common on {self.query.model.name}"
            raise InputError(f"{problem}; expected longer ones of senders by a window, or one step in common")
        self.lemmas = {lemma.name: lemma for lemma in proof.all_lemmas(self.query.model)}
        reads = {*proof.beliefs, *self.controller.parameters} & self.query.units().keys()
        way = WayToFail("a window", lambda x: True, reads=tuple(reads))
        super().__init__(Clock.of(options.timeout))
        self._part = Part(self.query, way, options.with_clock(self._clock), (), self.controller.state)
        self._executions = Executions(self._part, self.controller)

    @property
    def left_out(self):
        return queries.left_out(self.query, self.controller)

    @blamed()
    def confirm(self, answer, constants):
        """Check that a lemma which holds is not vacuous, and return the final Answer.

        The solver looks for a window that satisfies the premise, and the prover replays this window. If no such window
        exists and the lemma permits this, the Answer is `empty`.
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
                self._counterexamples.append((trace, self._observed(trace)))

    @blamed()
    def faults(self, values):
        """Return the reasons why the lemmas would not add up to a proof even if all lemmas hold."""
        faults = progress.faults(self.proof, self.query.model, self._part.x, RecordingDict(values))
        return [*faults, *self._faults_of_sender()]

    @blamed()
    def derivations(self, values):
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

    def _find(self, *conditions):
        return self._executions.find(*conditions)

    def query_of(self, lemma, constants):
        """Return the query about a single lemma, with the values of the constants that the lemma reads."""
        _, _, used = self._evaluated(lemma, constants)
        return replace(self.query, property=self.query.property.of(lemma.name, used))

    def _evaluated(self, lemma, constants):
        reads = RecordingDict(constants)
        with state_is_there(self.name, self.controller):
            given, then = lemma.given(self._part.x, reads), lemma.then(self._part.x, reads)
        return given, then, {name: value for name, value in constants.items() if name in reads.names}

    def _observed(self, trace):
        return self.query.observed(trace, self._part.reads & trace.columns.keys(), self.controller.state)

    def _replayed(self, trace, lemma, constants):
        """Replay the window, and return the window with the lemma as its property."""
        trace = replace(trace, query=self.query_of(lemma, constants).record(), broken=())
        report = verification.replay(trace, allow_code=True)
        if report.outcome is not verification.Outcome.BREAKS:
            raise Unsound(f"a window that breaks '{lemma.name}' fails replay: {report}")
        return verification.explained(trace, report)


def controller_of(name, proof, query, controller):
    """Return the controller for the windows of a proof."""
    try:
        loaded = query.controller(controller)
    except InputError:
        if why := _why_not_on(query, controller):
            raise InputError(f"the proof {name} does not fit the controller: {why}") from None
        raise
    followed = {*proof.beliefs}
    foreign = {*loaded.parameters} & {belief.name for belief in query.model.carried_over()} - followed
    if foreign:
        read = ", ".join(sorted(foreign))
        raise InputError(
            f"the proof {name} does not fit {loaded.name}: it does not follow {read}, which the controller reads"
        )
    return loaded


@contextmanager
def state_is_there(name, controller):
    """Turn a KeyError into an InputError if a lemma of a proof reads state that its controller lacks."""
    try:
        yield
    except KeyError as error:
        remembered = ", ".join(memory.name for memory in controller.state) or "nothing"
        reason = f"it reads the state `{error.args[0]}`, and {controller.name} remembers {remembered}"
        raise InputError(f"the proof {name} does not fit {controller.name}: {reason}") from None


def _why_not_on(query, controller):
    """Return the quantity that a query's network lacks for a controller, in words; None if the network lacks none."""
    controllers_ = controller if isinstance(controller, list | tuple) else [controller]
    model, by_window = query.network.model_name, any(controllers.sends_by_window(one) for one in controllers_)
    if by_window is not query.model.windows:
        ways = "a rate", "a window"
        return f"on {model} senders send by {ways[query.model.windows]}, and it sends by {ways[by_window]}"
    with suppress(InputError):
        read = {*controllers.given(controller).parameters} - {*CONSTANTS} - query.units().keys()
        if read:
            return f"on {model} senders do not know {', '.join(sorted(read))}, which it reads"
    return None
