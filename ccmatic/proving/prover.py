"""Proves: finds the constants of a proof, lemma by lemma, each to the edge beyond which a window breaks it."""

from contextlib import suppress
from dataclasses import dataclass, replace
from time import monotonic

from ccmatic import language, verification
from ccmatic import query as queries
from ccmatic.base import Clock, InputError, OutOfTime, blamed, definitions, last_good
from ccmatic.contracts import Reads, WayToFail, load_definition
from ccmatic.logic import no
from ccmatic.proving import progress
from ccmatic.solving import SAT, UNKNOWN, UNSAT
from ccmatic.verification import HOLDS, UNDECIDED, VIOLATED, Executions, Part, Unsound, require_order

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
    """No value in a constant's range will do. trace: a window that breaks a lemma at the loosest, or None."""

    def __init__(self, message, constant, trace):
        super().__init__(message)
        self.constant, self.trace = constant, trace


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
        self.proof = proof = load_definition("proofs", "PROOF", name, allow_code=True)
        horizon = proof.horizon if horizon is None else horizon
        self.query = queries.make(
            proof.model,
            proof.buffer,
            horizon,
            proof.jitter,
            "executions",
            definitions.chosen("properties", "LEMMA"),
            {"proof": self.name, "lemma": ""},
        )
        self.controller = language.given(controller, self.query.units())
        require_order(self.controller, self.query.jitter)
        carried_over = {belief.name for belief in self.query.model.carried_over()}
        foreign = {*self.controller.parameters} & carried_over - {*proof.beliefs}
        if foreign:
            read = ", ".join(sorted(foreign))
            raise InputError(f"the proof {name} does not follow {read}, which the controller reads")
        self.lemmas = {lemma.name: lemma for lemma in proof.all_lemmas(self.query.model)}
        reads = {*proof.beliefs, *self.controller.parameters} & self.query.units().keys()
        way = WayToFail("a window", lambda x: True, reads=tuple(reads))
        self._clock = Clock(timeout)
        self._part = Part(self.query, way, {**options, "timeout": self._clock}, ())
        self._executions = Executions(self._part, self.controller)

    @blamed()
    def ask(self, lemma, constants):
        """The Answer on a lemma for values of its constants."""
        begin = monotonic()
        answer, trace = UNKNOWN, None
        with suppress(OutOfTime), self._clock.question():
            given, then, used = self._stated(lemma, constants)
            self.listen(lemma.name, used)
            answer, trace = self._executions.find(given, no(then))
        if trace:
            trace = self._replayed(trace, lemma, used)
        return Answer(lemma.name, VERDICTS[answer], monotonic() - begin, trace)

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
        """The lemmas that limit a constant: those that read it and none but it and the constants before it."""
        names = [other.name for other in self.proof.constants]
        decided = {*names[: names.index(constant.name) + 1]}
        lemmas = [lemma for lemma in self.lemmas.values() if not lemma.paper]
        reads = {lemma.name: self.constants_of(lemma) for lemma in lemmas}
        return [lemma for lemma in lemmas if constant.name in reads[lemma.name] <= decided]

    def first_fault(self, lemmas, values):
        """The Answer on the first of the lemmas that does not hold, which is then put first, or None."""
        for lemma in lemmas:
            answer = self.ask(lemma, values)
            if answer.verdict != HOLDS:
                lemmas.remove(lemma)
                lemmas.insert(0, lemma)
                return answer
        return None

    @blamed()
    def faults(self, values):
        """Why the lemmas, each true, would not add up to a proof."""
        return list(progress.faults(self.proof, self.query.model, self._part.x, Reads(values)))

    @blamed()
    def question(self, lemma, constants):
        """The formulas that a window which breaks the lemma satisfies, for a certificate that there is none."""
        query = self.query_of(lemma, constants)
        (way,) = query.property.ways_to_fail(query.model, query.buffer)
        return Part(query, way, {}, self._part.reads).question(self.controller)

    def query_of(self, lemma, constants):
        """The query about a lemma alone, with those of the constants that it reads."""
        _, _, used = self._stated(lemma, constants)
        return replace(self.query, property=self.query.property.of(lemma.name, used))

    def _stated(self, lemma, constants):
        """What is given, what follows, and the constants that are read in them."""
        reads = Reads(constants)
        given, then = lemma.given(self._part.x, reads), lemma.then(self._part.x, reads)
        return given, then, {name: value for name, value in constants.items() if name in reads.names}

    def _replayed(self, trace, lemma, constants):
        trace = replace(trace, query=self.query_of(lemma, constants).record())
        report = verification.replay(trace, allow_code=True)
        if report.outcome is not verification.Outcome.BREAKS:
            raise Unsound(f"a window that breaks '{lemma.name}' fails replay: {report}")
        return verification.explained(trace, report)


def search(prover, known):
    """Find the constants that are not in `known`, which maps names to Found, and add them, yielding each Constant.
    Raises NoValue where none in a constant's range does, OutOfTime where that could not be told."""
    chosen = None
    for constant in prover.proof.constants:
        if constant.name not in known:
            values = {name: found.value for name, found in known.items()}
            limits = prover.limits(constant)
            if constant.at is not None:
                known[constant.name] = Found(constant.at)
            elif not limits:
                raise InputError(f"no lemma limits the constant '{constant.name}' when those before it are known")
            else:
                front = _front(prover, constant, limits, values, chosen)
                known[constant.name] = replace(_edge(prover, constant, limits, values), front=tuple(front))
            yield constant
        chosen = constant if constant.at is not None else None


def verdicts(prover, values, asked):
    """Ask every lemma, also the paper's, with these constants, that `asked` does not decide; yields Answers."""
    for lemma in prover.lemmas.values():
        if lemma.name not in asked or asked[lemma.name].verdict == UNDECIDED:
            yield prover.confirm(prover.ask(lemma, values), values)


def _front(prover, constant, limits, values, chosen):
    """The best value of a constant at others of the one before, which trades off with it."""
    for other in chosen.front if chosen else ():
        try:
            yield other, _edge(prover, constant, limits, {**values, chosen.name: other}).value
        except InputError:
            yield other, None


def _edge(prover, constant, limits, values):
    """The best value that no window breaks, by bisection: the value itself is asked, and so is the next better one."""
    grid, faults = constant.grid(), {}

    def holds(index):
        faults[index] = prover.first_fault(limits, {**values, constant.name: grid[index]})
        return faults[index] is None

    good = last_good(len(grid), holds)
    edge = faults.get(good + 1)
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
