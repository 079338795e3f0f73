"""Steps of a proof that a machine can check: statements for a solver, algebraic derivations, and constructions.

Each step has named hypotheses. The method `check` decides whether the claim follows from them. The method `without`
checks that the claim does not follow if one hypothesis is dropped. A witness, which consists of exact numbers, shows
this. Exact arithmetic replays the witness before `without` reports it.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from re import fullmatch
from time import monotonic

import sympy
from pysmt.logics import QF_LRA, QF_NRA
from pysmt.oracles import get_logic
from pysmt.shortcuts import And

from ccmatic.answers.verification import HOLDS, UNDECIDED, VIOLATED
from ccmatic.logic import Condition, Linear, every, formula, no, real
from ccmatic.logic.solving import SAT, UNSAT, Checker, SolverOptions
from ccmatic.records import BrokenRecord, StepLine

#: The verdict if no numbers satisfy the hypotheses, so that the claim is vacuous.
VACUOUS = "vacuous"

#: The pattern of names such as name_0, name_1, … that form a column. The report shows a column as one row.
COLUMN = r"(\w+?)_(\d+)"


@dataclass(frozen=True)
class Finding:
    """The result of the check of a claim. The witness has the numbers of a counterexample, by name."""

    verdict: str
    seconds: float
    witness: dict | None = None


@dataclass(frozen=True)
class Hypothesis:
    """A hypothesis of a step: its meaning in words, and its condition as a function of `Numbers`.

    `broken` is a pair for the violation of the hypothesis: a description, and the condition that replaces the
    hypothesis. With None, the check just drops the hypothesis.
    """

    name: str
    says: str
    holds: Callable
    broken: tuple | None = None


@dataclass(frozen=True)
class Step:
    """The common base class of all steps of a proof.

    Attributes:
        says: The claim in words.
        equation: The number of the equation in the paper.
        theorem: The name of the step's theorem in the Coq file, or None.
        covers: The scope of the check.
    """

    name: str
    says: str
    equation: str
    theorem: str | None
    covers: str

    def hypotheses_broken(self):
        """Return each hypothesis that `without` can violate: its name, and a description of the violation."""
        raise NotImplementedError

    def check(self, timeout=None):
        """Return the Finding on the claim. The timeout is in seconds for each query of a solver."""
        raise NotImplementedError

    def without(self, name, timeout=None):
        """Return the Finding on the claim with the hypothesis of this name violated."""
        raise NotImplementedError


class Numbers:
    """The numbers of a statement, by name: unknowns, or the numbers of a witness."""

    def __init__(self, values=None):
        self._values = values

    def __call__(self, names):
        """Return the number with this name, or a list if `names` contains several names separated by spaces."""
        numbers = [self._number(name) for name in names.split()]
        return numbers if len(numbers) > 1 else numbers[0]

    def row(self, name, length):
        """Return the numbers name_0, name_1, … as a list."""
        return [self._number(f"{name}_{i}") for i in range(length)]

    def _number(self, name):
        if self._values is None:
            return real(name)
        # Solvers assign no values to unknowns that do not occur in any condition.
        return self._values.get(name, Fraction(0))


@dataclass(frozen=True)
class Statement(Step):
    """A claim that a solver decides.

    Its `laws` always hold between the numbers. Laws and conclusion are functions of `Numbers`.
    """

    laws: Callable
    hypotheses: tuple
    conclusion: Callable

    def hypotheses_broken(self):
        for each in self.hypotheses:
            yield each.name, each.broken[0] if each.broken else f"not: {each.says}"

    def check(self, timeout=None):
        begin = monotonic()
        assumed = [every(list(self.laws(Numbers()))), *(each.holds(Numbers()) for each in self.hypotheses)]
        example, values = _ask(assumed, timeout)
        if example == UNSAT:
            return Finding(VACUOUS, monotonic() - begin)
        if values is None or not self._replays(values, self.hypotheses):
            return Finding(UNDECIDED, monotonic() - begin)
        answer, values = _ask([*assumed, no(self.conclusion(Numbers()))], timeout)
        return self._finding(answer, values, begin, self.hypotheses)

    def without(self, name, timeout=None):
        begin = monotonic()
        broken = next(each for each in self.hypotheses if each.name == name)
        others = [each for each in self.hypotheses if each is not broken]
        if broken.broken:
            others.append(Hypothesis(name, *broken.broken))
        assumed = [every(list(self.laws(Numbers()))), *(each.holds(Numbers()) for each in others)]
        answer, values = _ask([*assumed, no(self.conclusion(Numbers()))], timeout)
        if values is not None and broken.holds(Numbers(values)):
            # The witness satisfies the hypothesis. So the statement itself is false, and this check gives no
            # information about the hypothesis.
            return Finding(UNDECIDED, monotonic() - begin)
        return self._finding(answer, values, begin, others)

    def _finding(self, answer, values, begin, assumed):
        if answer == UNSAT:
            return Finding(HOLDS, monotonic() - begin)
        if values is None or not self._replays(values, assumed) or self.conclusion(Numbers(values)) is not False:
            return Finding(UNDECIDED, monotonic() - begin)
        return Finding(VIOLATED, monotonic() - begin, values)

    def _replays(self, values, assumed):
        """Check in exact arithmetic that the values satisfy the laws and the hypotheses."""
        x = Numbers(values)
        return every(list(self.laws(x)), [each.holds(x) for each in assumed]) is True


def _ask(conditions, timeout):
    """Return the solver's answer. After SAT, also return the unknowns' values by name, rounded if irrational."""
    whole = And([formula(condition) for condition in conditions])
    checker = Checker(SolverOptions(timeout=timeout), QF_LRA if get_logic(whole).theory.linear else QF_NRA)
    checker.add(Condition(whole))
    answer = checker.check()
    if answer != SAT:
        return answer, None
    symbols = sorted(whole.get_free_variables(), key=lambda symbol: symbol.symbol_name())
    values = {symbol.symbol_name(): checker.value(Linear({symbol: 1})) for symbol in symbols}
    return SAT, values


@dataclass(frozen=True)
class Derivation(Step):
    """An algebraic derivation in sympy: substitutions turn one expression into another.

    Substitutions are tuples (name, symbol, expression), in the order of their application.
    """

    start: sympy.Expr
    substitutions: tuple
    result: sympy.Expr

    def hypotheses_broken(self):
        return [(name, f"not: {symbol} = {value}") for name, symbol, value in self.substitutions]

    def check(self, timeout=None):
        return self._compare(self.substitutions)

    def without(self, name, timeout=None):
        return self._compare([each for each in self.substitutions if each[0] != name])

    def _compare(self, substitutions):
        begin = monotonic()
        difference = self.start - self.result
        for _, symbol, value in substitutions:
            difference = difference.subs(symbol, value)
        if sympy.cancel(difference) == 0:
            return Finding(HOLDS, monotonic() - begin)
        symbols = sorted(difference.free_symbols, key=str)
        for primes in _different_numbers(symbols):
            if difference.subs(primes) != 0:
                witness = {str(symbol): Fraction(int(value)) for symbol, value in primes.items()}
                return Finding(VIOLATED, monotonic() - begin, witness)
        return Finding(UNDECIDED, monotonic() - begin)


def _different_numbers(symbols):
    for first in range(1, 20):
        yield {symbol: sympy.prime(first + i) for i, symbol in enumerate(symbols)}


@dataclass(frozen=True)
class Construction(Step):
    """A construction that is carried out on concrete executions.

    `examine` checks the claim on concrete executions, which violate the hypothesis that its argument names, if any. It
    returns an execution that contradicts the claim, or None. `breaks` describes the violation of each hypothesis.
    """

    examine: Callable
    breaks: dict

    def hypotheses_broken(self):
        return self.breaks.items()

    def check(self, timeout=None):
        return self.without(None)

    def without(self, name, timeout=None):
        begin = monotonic()
        witness = self.examine(name)
        return Finding(VIOLATED if witness else HOLDS, monotonic() - begin, witness)


@dataclass(frozen=True)
class StepResult:
    """A checked step.

    `broken` has a tuple for each hypothesis: its name, a description of its violation, and the Finding without it.
    """

    step: Step
    finding: Finding
    broken: tuple

    @property
    def good(self):
        """Whether the step holds, and fails if any one of its hypotheses is violated."""
        return self.finding.verdict == HOLDS and all(finding.verdict == VIOLATED for *_, finding in self.broken)

    @property
    def seconds(self):
        return self.finding.seconds + sum(finding.seconds for *_, finding in self.broken)


def check(proof, timeout=None) -> Iterator[StepResult]:
    """Yield each Step of a proof as a StepResult, as soon as it is decided."""
    for step in proof:
        finding = step.check(timeout)
        broken = ((name, says, step.without(name, timeout)) for name, says in step.hypotheses_broken())
        yield StepResult(step, finding, tuple(broken))


def row(checked):
    step, finding = checked.step, checked.finding
    return StepLine(
        step=step.name,
        says=step.says,
        equation=step.equation,
        theorem=step.theorem,
        covers=step.covers,
        verdict=finding.verdict,
        seconds=round(finding.seconds, 3),
        witness=_exact(finding.witness),
        broken=[
            BrokenRecord(name, says, finding.verdict, round(finding.seconds, 3), _exact(finding.witness))
            for name, says, finding in checked.broken
        ],
        good=checked.good,
    )


def line(checked):
    step, finding = checked.step, checked.finding
    kept = [name for name, _, finding in checked.broken if finding.verdict != VIOLATED]
    needs = f"not shown to need: {', '.join(kept)}" if kept else f"needs each of its {len(checked.broken)} hypotheses"
    return f"{finding.verdict:<9} {checked.seconds:6.1f} s  {step.name}: {step.says}; {needs}"


def markdown(checks):
    return "\n".join(_report(list(checks))) + "\n"


def _report(checks):
    yield "| step | the paper | Coq | checked of | verdict | s |"
    yield "|---|---|---|---|---|---|"
    for checked in checks:
        step = checked.step
        theorem = f"`{step.theorem}`" if step.theorem else ""
        yield (
            f"| {step.name} | {step.equation} | {theorem} | {step.covers} | {checked.finding.verdict} "
            f"| {checked.seconds:.1f} |"
        )
    for checked in checks:
        yield f"\n### {checked.step.name}\n"
        yield f"{checked.step.says}."
        if checked.finding.witness:
            yield f"\nViolated: {_listed(checked.finding.witness)}"
        yield "\n| broken | how | verdict | witness |"
        yield "|---|---|---|---|"
        for name, says, broken in checked.broken:
            yield f"| {name} | {says} | {broken.verdict} | {_listed(broken.witness)} |"


def _listed(witness):
    rows = {}
    for name, value in (witness or {}).items():
        column = fullmatch(COLUMN, name)
        rows.setdefault(column[1] if column else name, {})[int(column[2]) if column else 0] = str(Fraction(value))
    return "; ".join(f"{name} = {', '.join(cells[t] for t in sorted(cells))}" for name, cells in rows.items())


def _exact(witness):
    return witness and {name: Fraction(value) for name, value in witness.items()}
