"""Steps of a proof that machines check: statements for a solver, derivations for algebra, constructions to execute.

Each has hypotheses by name. `check` asks whether what is claimed follows; `without` a hypothesis, it must not, and a
witness shows that. A witness is exact numbers, replayed by exact arithmetic before anybody sees it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from time import monotonic

import sympy
from pysmt.logics import QF_LRA, QF_NRA
from pysmt.oracles import get_logic
from pysmt.shortcuts import And, Times

from ccmatic.logic import Condition, Linear, every, formula, no, real
from ccmatic.solving import SAT, UNSAT, Checker, SolverOptions
from ccmatic.verification import HOLDS, UNDECIDED, VIOLATED

#: A verdict of its own: nothing satisfies the hypotheses, so nothing is said.
VACUOUS = "vacuous"


@dataclass(frozen=True)
class Finding:
    """What is found of a claim: HOLDS, VIOLATED, VACUOUS (nothing meets its hypotheses) or UNDECIDED.

    seconds: it took. witness: of a violation, each number by its name.
    """

    verdict: str
    seconds: float
    witness: dict | None = None


@dataclass(frozen=True)
class Hypothesis:
    """name: of it. says: it in words. holds: the condition, of `Numbers`. broken: how it is broken where that is not to
    leave it out: (in words, the condition in its stead)."""

    name: str
    says: str
    holds: Callable
    broken: tuple | None = None


@dataclass(frozen=True)
class Step:
    """What every step of a proof has. name; says: the claim in words; equation: of the paper; theorem: its name in
    the Coq file, or None; covers: of what all it is checked."""

    name: str
    says: str
    equation: str
    theorem: str | None
    covers: str

    def hypotheses_broken(self):
        """(name, in words how it is broken) of each hypothesis that `without` breaks."""
        raise NotImplementedError

    def check(self, timeout=None):
        """The Finding on the claim. timeout: seconds for a question to a solver."""
        raise NotImplementedError

    def without(self, name, timeout=None):
        """The Finding on the claim with that hypothesis broken."""
        raise NotImplementedError


class Numbers:
    """The numbers of a statement, by name: unknowns; or, given `values`, those of a witness."""

    def __init__(self, values=None):
        self._values = values

    def __call__(self, names):
        """The number of that name; of several, apart by spaces, a list."""
        numbers = [self._number(name) for name in names.split()]
        return numbers if len(numbers) > 1 else numbers[0]

    def row(self, name, length):
        """The numbers name_0, name_1, …"""
        return [self._number(f"{name}_{i}") for i in range(length)]

    def _number(self, name):
        if self._values is None:
            return real(name)
        # A solver gives no value to what matters to nothing.
        return self._values.get(name, Fraction(0))


def times(left, right):
    """left · right, of numbers or terms: what `Linear` lacks. A product of unknowns is an unknown of its own, a
    monomial that solvers for nonlinear arithmetic understand."""
    if not (isinstance(left, Linear) and isinstance(right, Linear)):
        return left * right if isinstance(left, Linear) else right * left
    total = left * right.constant + Linear(right.coefficients) * left.constant
    for (a, m), (b, n) in product(left.coefficients.items(), right.coefficients.items()):
        factors = [factor for node in (a, b) for factor in (node.args() if node.is_times() else (node,))]
        monomial = Times(sorted(factors, key=lambda factor: factor.node_id()))
        total = total + Linear({monomial: m * n})
    return total


@dataclass(frozen=True)
class Statement(Step):
    """laws: what is always so of the numbers, of which unknowns there are. hypotheses: what besides.
    conclusion: what follows. Each but the hypotheses is a function of `Numbers`; laws gives conditions."""

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
            # The statement is false: this tells nothing of the hypothesis.
            return Finding(UNDECIDED, monotonic() - begin)
        return self._finding(answer, values, begin, others)

    def _finding(self, answer, values, begin, assumed):
        if answer == UNSAT:
            return Finding(HOLDS, monotonic() - begin)
        if values is None or not self._replays(values, assumed) or self.conclusion(Numbers(values)) is not False:
            return Finding(UNDECIDED, monotonic() - begin)
        return Finding(VIOLATED, monotonic() - begin, values)

    def _replays(self, values, assumed):
        """By exact arithmetic, laws and what is assumed hold of the values."""
        x = Numbers(values)
        return every(list(self.laws(x)), [each.holds(x) for each in assumed]) is True


def _ask(conditions, timeout):
    """SAT, UNSAT or UNKNOWN, and after SAT the value of each unknown by name, rounded where it is irrational."""
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
    """Algebra: `start`, an expression of sympy's, is `result` once each of `substitutions`, (name, symbol,
    expression), is made in turn."""

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
    """Whole numbers for the symbols, in several ways."""
    for first in range(1, 20):
        yield {symbol: sympy.prime(first + i) for i, symbol in enumerate(symbols)}


@dataclass(frozen=True)
class Construction(Step):
    """What is carried out on concrete executions. examine: given the name of a hypothesis to break, or None, a witness
    against the claim, or None if each execution bears it out. breaks: {name: in words how it is broken}."""

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
