"""Proves: finds the constants of a proof, lemma by lemma, each to the edge beyond which a window breaks it."""

from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic

from ccmatic import query as queries
from ccmatic import verification
from ccmatic.base import Clock, InputError, OutOfTime, blamed, definitions, last_good, last_good_from_above
from ccmatic.contracts import Reads, WayToFail, load_definition
from ccmatic.controllers import require_order
from ccmatic.logic import no
from ccmatic.proving import fit, progress
from ccmatic.solving import SAT, UNKNOWN, UNSAT
from ccmatic.verification import HOLDS, UNDECIDED, VIOLATED, Executions, Part, Unsound

VERDICTS = {UNSAT: HOLDS, SAT: VIOLATED, UNKNOWN: UNDECIDED}


@dataclass(frozen=True)
class Answer:
    """verdict on a lemma: HOLDS, VIOLATED or UNDECIDED. trace: a window that breaks it, replayed. seconds: it took.
    empty: it holds as what it presupposes is true of no window."""

    lemma: str
    verdict: str
    seconds: float
    trace: object = None
    empty: bool = False


@dataclass(frozen=True)
class Found:
    """A constant's value. edge: why the next better one will not do, as an Answer; None at the end of its range, or for
    one that the author chose. front: (a value of the constant before, the best of this one there) …"""

    value: object
    edge: Answer | None = None
    front: tuple = ()


class NoValue(InputError):
    """No value in a constant's range will do. trace: a window that breaks a lemma at the loosest, or None. result: the
    Result so far, if the proof goes on from one."""

    def __init__(self, message, constant, trace):
        super().__init__(message)
        self.constant, self.trace, self.result = constant, trace, None


def windows_of(name, proof, horizon, lemma=""):
    """The Query about a Proof, by its name or path, whose executions are the windows of so many steps of all senders
    on its network. lemma: the name of one that a window may break."""
    about = {"proof": name, "lemma": lemma}
    asked = definitions.chosen("properties", "LEMMA")
    return queries.make(proof.model, proof.buffer, horizon, proof.jitter, "executions", asked, about)


class Prover:
    """Asks a proof's lemmas about a controller, one incremental solver for all: what it is asked about are the
    windows of every execution.

    name: of the proof, or its path. controller: as of `language.given`. horizon: in place of the proof's own.
    timeout: seconds for a lemma; options: see `solver.Checker`. listen: is told each lemma that is asked, and the
    values of its constants.
    """

    listen = staticmethod(lambda lemma, values: None)

    @blamed()
    def __init__(self, name, controller, horizon=None, timeout=None, **options):
        self.name = definitions.absolute(name)
        proof = load_definition("proofs", "PROOF", name, allow_code=True)
        horizon = proof.horizon if horizon is None else horizon
        self.query = windows_of(self.name, proof, horizon)
        self.controller = fit.controller_of(name, proof, self.query, controller)
        self.proof = proof = proof.about(self.controller.state)
        require_order(self.controller, self.query.jitter)
        if proof.common > 1 and not (self.query.model.windows and proof.common < horizon):
            found = f"windows of {horizon} steps have {proof.common} in common on {self.query.model.name}"
            raise InputError(f"{found}; expected longer ones of senders by a window, or one step in common")
        self.lemmas = {lemma.name: lemma for lemma in proof.all_lemmas(self.query.model)}
        reads = {*proof.beliefs, *self.controller.parameters} & self.query.units().keys()
        way = WayToFail("a window", lambda x: True, reads=tuple(reads))
        self._clock = Clock(timeout)
        self._part = Part(self.query, way, {**options, "timeout": self._clock}, (), self.controller.state)
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
        asked = lemma.name, *used.items()
        if asked in self._held:
            return self._held[asked]
        self.listen(lemma.name, used)
        with suppress(OutOfTime), self._clock.question():
            answer, trace = self._executions.find(given, no(then))
        if trace:
            self._windows.append((trace, self._observed(trace)))
            trace = self._replayed(trace, lemma, used)
        told = Answer(lemma.name, VERDICTS[answer], monotonic() - begin, trace)
        if told.verdict == HOLDS:
            self._held[asked] = told
        return told

    @blamed()
    def confirm(self, answer, constants):
        """The Answer on a lemma that holds, once a window is known of which it says something, replayed; `empty` where
        there is none and need be none. Raises InputError where there must be one."""
        if answer.verdict != HOLDS:
            return answer
        begin, found = monotonic(), UNKNOWN
        lemma, part = self.lemmas[answer.lemma], self._part
        given = lemma.given(part.x, Reads(constants))
        with suppress(OutOfTime), self._clock.question():
            found, part.trace = self._executions.find(given)
        if found == SAT:
            part.replays(self.query_of(lemma, constants))
        elif found == UNSAT and not (lemma.empty or lemma.paper):
            what = f"window of which '{lemma.name}' says anything"
            raise part.contradiction(what, self.controller, given, f"a {what}")
        verdict = UNDECIDED if found == UNKNOWN else HOLDS
        return replace(answer, verdict=verdict, seconds=answer.seconds + monotonic() - begin, empty=found == UNSAT)

    @blamed()
    def constants_of(self, lemma):
        """The names of the constants that a lemma reads."""
        _, _, used = self._stated(lemma, {constant.name: constant.low for constant in self.proof.constants})
        return {*used}

    def limits(self, constant):
        """The lemmas that limit a constant: those that read it and none but it, those found together with it, and the
        constants before it."""
        names = [other.name for other in self.proof.constants]
        decided = {*names[: names.index(self.proof.found_with(constant)[-1].name) + 1]}
        lemmas = [lemma for lemma in self.lemmas.values() if not lemma.paper]
        reads = {lemma.name: self.constants_of(lemma) for lemma in lemmas}
        return [lemma for lemma in lemmas if constant.name in reads[lemma.name] <= decided]

    def first_fault(self, lemmas, values):
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
            trace, found = replace(window, controller=self.controller.source), None
            with suppress(InputError):
                found = verification.replay(trace).outcome
            if found is verification.Outcome.BREAKS:
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
            told = [*faults, *([f"'{joined}' is {answer.verdict}"] if answer.trace else [])]
            raise NoValue("; ".join(told), joined, answer.trace)

    def _faults_of_sender(self):
        model, x = self.query.model, self._part.x
        if model.windows:
            return [*progress.faults_of(self.controller, x, self.proof.common)]
        beyond = queries.beyond_window(model, self.controller, x.flows[0])
        told = "{0} tells values of {1} above {2} apart, which windows of {3} steps do not"
        return [told.format(self.controller.name, *each, x.horizon) for each in beyond]

    @blamed()
    def question(self, lemma, constants):
        """The formulas that a window which breaks the lemma satisfies, for a certificate that there is none."""
        query = self.query_of(lemma, constants)
        (way,) = query.property.ways_to_fail(query.model, query.buffer)
        return Part(query, way, {}, self._part.reads, self.controller.state).question(self.controller)

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


def search(prover, known, earlier):
    """Find the constants that are not in `known`, which maps names to Found, and add them, yielding each Constant.
    earlier: of other proofs like this one the constants by name, each (its value, the lemma that the next better one
    broke): what was found where those before it are most alike is asked first. Raises NoValue where none in a range
    does, OutOfTime where that could not be told."""
    before = None
    for constant in prover.proof.constants:
        together = prover.proof.found_with(constant)
        if constant.name not in known:
            values = {name: found.value for name, found in known.items()}
            limits = prover.limits(constant)
            if constant.at is not None:
                known[constant.name] = Found(constant.at)
            elif len(together) > 1:
                known |= _together(prover, together, values)
            elif not limits:
                raise InputError(f"no lemma limits the constant '{constant.name}' when those before it are known")
            else:
                front = _front(prover, constant, limits, values, before)
                found = _edge(prover, constant, limits, values, _guess(earlier, constant.name, values))
                known[constant.name] = replace(found, front=tuple(front))
            yield from together
        before = constant


def _guess(earlier, name, values):
    """Of a constant (its value, the lemma that the next better one broke) in the proof that has the most of these
    values, or None."""
    known = [proof for proof in earlier if name in proof]
    alike = max(known, key=lambda proof: sum(proof.get(each, [])[:1] == (values[each],) for each in values), default={})
    return alike.get(name)


def verdicts(prover, values, asked):
    """Ask every lemma, also the paper's, with these constants, that `asked` does not decide; yields Answers."""
    for lemma in prover.lemmas.values():
        if lemma.name not in asked or asked[lemma.name].verdict == UNDECIDED:
            yield prover.confirm(prover.ask(lemma, values), values)


def _front(prover, constant, limits, values, before):
    """The best value of a constant at others of the one before, if that has a front."""
    for other in before.front if before else ():
        try:
            yield other, _edge(prover, constant, limits, {**values, before.name: other}).value
        except InputError:
            yield other, None


def _together(prover, constants, values):
    """The best values, by name, of constants that limit each other: from the best of its range each is weakened by as
    little as a window asks that breaks a lemma, until none does. Where each bounds what it is of, and lemmas say that
    bounds which are kept at first are kept at last, these are the best of all that will do; that none alone may be
    better is asked."""
    limits = list(dict.fromkeys(lemma for constant in constants for lemma in prover.limits(constant)))
    found = {constant.name: constant.grid()[-1] for constant in constants}
    while fault := prover.first_fault(limits, {**values, **found}):
        if fault.verdict == UNDECIDED:
            raise OutOfTime(f"no answer in time on '{fault.lemma}' for {found}")
        found = _weakened(prover, constants, values, found, fault)
        if all(constant.dropped(found[constant.name]) for constant in constants):
            raise NoValue(f"no bound is kept: the last breaks '{fault.lemma}'", constants[0].name, fault.trace)
    return {constant.name: _beside(prover, constant, limits, {**values, **found}) for constant in constants}


def _weakened(prover, constants, values, found, fault):
    """The best values, none better than found, at which a window no longer breaks the lemma: each where the others are
    the loosest."""
    loosest = {**values, **{constant.name: constant.grid()[0] for constant in constants}}

    def best(name, grid):
        good = last_good(len(grid), lambda index: prover.admits(fault, {**loosest, name: grid[index]}))
        return grid[max(good, 0)]

    weakened = {}
    for constant in constants:
        grid = constant.grid()
        weakened[constant.name] = best(constant.name, grid[: grid.index(found[constant.name]) + 1])
    if weakened == found or not prover.admits(fault, {**values, **weakened}):
        told = ", ".join(f"{name} = {value}" for name, value in weakened.items())
        message = f"no values will do of {', '.join(found)}: at {told}, '{fault.lemma}' is {fault.verdict}"
        raise NoValue(message, constants[0].name, fault.trace)
    return weakened


def _beside(prover, constant, limits, values):
    """A constant's value, Found, where the others have theirs."""
    grid = constant.grid()
    better = grid[grid.index(values[constant.name]) + 1 :][:1]
    edge = prover.first_fault(limits, {**values, constant.name: better[0]}) if better else None
    if better and edge is None:
        found = f"'{constant.name}' will do at {better[0]} too, and was found to be {values[constant.name]}"
        raise InputError(f"{found}; expected constants to be joined of which looser values assume no more")
    return Found(values[constant.name], edge)


def _edge(prover, constant, limits, values, guess=None):
    """The best value that no window breaks: all lemmas are asked of it, and one is broken at the next better one. Those
    alone that break are asked of what is better. guess: (a value, a lemma): that one is asked first, of the next better
    one."""
    value, suspect = guess or (None, None)
    grid, suspects, faults = constant.grid(), [lemma for lemma in limits if lemma.name == suspect], {}
    bad = len(grid)

    def holds(index, lemmas=suspects):
        faults[index] = prover.first_fault(lemmas, {**values, constant.name: grid[index]})
        if faults[index] and lemmas is limits:
            suspects.append(prover.lemmas[faults[index].lemma])
        return faults[index] is None

    def fails(index):
        return prover.known_to_fail(limits, {**values, constant.name: grid[index]})

    if value in grid[:-1] and not holds(grid.index(value) + 1, suspects or limits):
        bad = grid.index(value) + 1
    while (good := last_good_from_above(bad, holds, fails)) >= 0 and not holds(good, limits):
        bad = good
    edge = None
    if good + 1 < len(grid):
        edge = faults.get(good + 1) or prover.first_fault(limits, {**values, constant.name: grid[good + 1]})
    if good < 0 and edge.verdict == UNDECIDED:
        raise OutOfTime(f"no answer in time on '{edge.lemma}' for the loosest value of '{constant.name}', {grid[0]}")
    if good < 0:
        raise NoValue(
            f"no value of '{constant.name}' from {constant.low} to {constant.high} will do: at the loosest, "
            f"{grid[0]}, '{edge.lemma}' is {edge.verdict}",
            constant.name,
            edge.trace,
        )
    return Found(grid[good], edge)
