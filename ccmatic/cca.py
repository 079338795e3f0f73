"""A controller: a Python function from beliefs to a sending rate; to run, to encode for solvers, to print."""

import operator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from pathlib import Path

from pysmt import shortcuts as smt

from ccmatic import source as reader
from ccmatic.errors import InputError
from ccmatic.source import Binary, Comparison, Extreme, If, Logic, Name, Not, Number
from ccmatic.trace import read_text
from ccmatic.units import BYTES, RATE, TIME

#: What a controller may read if the caller does not say: bounds on the link rate, on the queue and its delay.
BELIEFS = {"C_L": RATE, "C_U": RATE, "C_Llambda": RATE, "qdel_L": TIME, "qdel_U": TIME, "q_U": BYTES}


@dataclass(frozen=True)
class Controller:
    """A controller that has been checked by `parse`.

    parameters: the beliefs and constants that it reads.
    body:       the rate that it returns, as a tree of the classes in `ccmatic.source`.
    """

    name: str
    source: str
    parameters: tuple[str, ...]
    body: object
    file: str | None = field(default=None, compare=False)

    def rate(self, values):
        """The rate that the controller's own Python returns, exactly; `values` has every parameter."""
        given = {name: Fraction(values[name]) for name in self.parameters}
        try:
            return _run(self.source, self.file or f"<{self.name}>")(**given)
        except ZeroDivisionError as error:
            line = error.__traceback__.tb_next.tb_lineno
            message = "divides by 0 at these values, expected a divisor other than 0"
            raise InputError(message, self.file, line) from None

    def encode(self, values, rate, floor):
        """The formula rate = max(floor, the rate that the controller returns), linear in the terms given.

        `values` maps each parameter to a real term; those that are numbers, as R_m and D have to be, are
        folded in. A division by 0 raises InputError even where only some values lead to it.
        """
        return _Encoder(values, self.file).body(self.body, rate, floor)

    def pretty(self):
        """The controller as mathematics for people: lines of if, elif, else and `rate = …`."""
        return "\n".join(_listing(self.body))


def parse(source, name="controller", file=None, beliefs=BELIEFS):
    """The controller that `source` defines; InputError if none. `beliefs` maps what it may read to units."""
    source = source.removeprefix("\ufeff")
    parameters, body = reader.read(source, beliefs, file)
    return Controller(name, source, parameters, body, file)


def load(path, beliefs=BELIEFS):
    """The controller in a file, named after it."""
    return parse(read_text(path), Path(path).stem, str(path), beliefs)


_run = lru_cache(maxsize=1024)(reader.run_exactly)

_COMPARE = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_COMPARE_TERMS = {
    "<": smt.LT,
    "<=": smt.LE,
    ">": smt.GT,
    ">=": smt.GE,
    "==": smt.Equals,
    "!=": lambda left, right: smt.Not(smt.Equals(left, right)),
}


# A linear form is a dict from a key to its coefficient, never 0. The key () stands for 1; the others are
# solver terms in the encoder, and monomials (a tuple of (name, power)) in the printer.


def _constant(number):
    return {(): Fraction(number)} if number else {}


def _scaled(form, factor):
    return {key: factor * coefficient for key, coefficient in form.items()} if factor else {}


def _sum(left, right, factor=1):
    """left + factor · right."""
    total = dict(left)
    for key, coefficient in right.items():
        total[key] = total.get(key, 0) + factor * coefficient
    return {key: coefficient for key, coefficient in total.items() if coefficient}


def _as_number(form):
    """The number that a form is, or None."""
    return form.get((), Fraction(0)) if form.keys() <= {()} else None


class _Encoder:
    """Encodes trees over one map from parameters to solver terms."""

    def __init__(self, values, file):
        self.values = values
        self.file = file

    def body(self, tree, rate, floor):
        if not isinstance(tree, If):
            return self.leaf(self.form(tree), rate, floor)
        test = self.condition(tree.test)
        if test.is_true() or test.is_false():
            return self.body(tree.then if test.is_true() else tree.other, rate, floor)
        return smt.And(
            smt.Implies(test, self.body(tree.then, rate, floor)),
            smt.Implies(smt.Not(test), self.body(tree.other, rate, floor)),
        )

    def leaf(self, form, rate, floor):
        """rate = max(floor, form), without the choice where one side is never the smaller."""
        term = _term(form)
        excess = _as_number(_sum(form, _form(floor), -1))
        if excess is not None:
            return smt.Equals(rate, term if excess >= 0 else floor)
        either = smt.Or(smt.Equals(rate, floor), smt.Equals(rate, term))
        return smt.And(smt.GE(rate, floor), smt.GE(rate, term), either)

    def form(self, tree):
        """The linear form of a tree."""
        match tree:
            case Number(value):
                return _constant(value)
            case Name(name):
                return _form(self.values[name])
            case Binary("+", left, right):
                return _sum(self.form(left), self.form(right))
            case Binary("-", left, right):
                return _sum(self.form(left), self.form(right), -1)
            case Binary("*", left, right):
                return self.product(self.form(left), self.form(right), tree)
            case Binary("/", left, right):
                return self.quotient(self.form(left), self.form(right), tree)
            case Extreme(pick, terms):
                larger = ">=" if pick == "max" else "<="
                return reduce(lambda a, b: _choice(_compare(larger, a, b), a, b), map(self.form, terms))
            case If(test, then, other):
                return self.conditional(self.condition(test), then, other)
        raise TypeError(f"no term: {tree!r}")

    def product(self, left, right, tree):
        if _as_number(left) is None:
            left, right = right, left
        if _as_number(left) is None:
            raise ValueError(f"`{_text(tree)}` is not linear: R_m and D have to be numbers")
        return _scaled(right, _as_number(left))

    def quotient(self, left, right, tree):
        divisor = _as_number(right)
        if divisor is None:
            raise ValueError(f"`{_text(tree)}` is not linear: R_m and D have to be numbers")
        if divisor == 0:
            message = f"divides by `{_text(tree.right)}`, which is 0 here; expected a divisor other than 0"
            raise InputError(message, self.file, tree.line)
        return _scaled(left, 1 / divisor)

    def conditional(self, test, then, other):
        """One branch where the test is decided, so that the other may divide by 0; else a solver's choice."""
        if test.is_true():
            return self.form(then)
        if test.is_false():
            return self.form(other)
        return _choice(test, self.form(then), self.form(other))

    def condition(self, tree):
        """The formula of a condition; TRUE or FALSE where the numbers decide it."""
        match tree:
            case Comparison(op, left, right):
                return _compare(op, self.form(left), self.form(right))
            case Logic(op, parts):
                return self.logic(op == "and", parts)
            case Not(part):
                return _negation(self.condition(part))
        raise TypeError(f"no condition: {tree!r}")

    def logic(self, is_and, parts):
        """As Python does, the parts after one that decides the outcome are left alone."""
        undecided = []
        for part in parts:
            formula = self.condition(part)
            if not formula.is_bool_constant():
                undecided.append(formula)
            elif formula.is_true() != is_and:
                return formula
        return smt.And(undecided) if is_and else smt.Or(undecided)


def _form(term):
    """The linear form of a solver term: the number that it is, else the term itself."""
    if term.is_real_constant() or term.is_int_constant():
        value = term.constant_value()
        return _constant(Fraction(int(value.numerator), int(value.denominator)))
    return {term: Fraction(1)}


def _term(form):
    """The solver term of a linear form."""
    parts = [_multiple(key, coefficient) for key, coefficient in form.items()]
    return smt.Plus(parts) if parts else smt.Real(0)


def _multiple(key, coefficient):
    if key == ():
        return smt.Real(coefficient)
    return key if coefficient == 1 else smt.Times(smt.Real(coefficient), key)


def _compare(op, left, right):
    difference = _as_number(_sum(left, right, -1))
    if difference is not None:
        return smt.Bool(_COMPARE[op](difference, 0))
    return _COMPARE_TERMS[op](_term(left), _term(right))


def _negation(formula):
    return smt.Bool(formula.is_false()) if formula.is_bool_constant() else smt.Not(formula)


def _choice(test, then, other):
    if test.is_bool_constant():
        return then if test.is_true() else other
    return _form(smt.Ite(test, _term(then), _term(other)))


_SIGNS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=", "!=": "≠"}


def _listing(tree, indent="", word="if"):
    """The lines of a statement."""
    if not isinstance(tree, If):
        return [f"{indent}rate = {_text(tree)}"]
    lines = [f"{indent}{word} {_condition_text(tree.test)}:", *_listing(tree.then, indent + "    ")]
    if isinstance(tree.other, If):
        return [*lines, *_listing(tree.other, indent, "elif")]
    return [*lines, f"{indent}else:", *_listing(tree.other, indent + "    ")]


def _condition_text(tree):
    match tree:
        case Comparison(op, left, right):
            return f"{_text(left)} {_SIGNS[op]} {_text(right)}"
        case Logic(op, parts):
            texts = [(_condition_text(part), isinstance(part, Logic)) for part in parts]
            return f" {op} ".join(f"({text})" if nested else text for text, nested in texts)
        case Not(part):
            return f"not ({_condition_text(part)})"
    raise TypeError(f"no condition: {tree!r}")


def _text(tree):
    """A term, multiplied out, as a sum of fractions times names."""
    text = ""
    for monomial, coefficient in _polynomial(tree).items():
        sign = " - " if coefficient < 0 else " + "
        text += (sign if text else sign.strip(" +")) + _monomial_text(monomial, abs(coefficient))
    return text or "0"


def _polynomial(tree):
    match tree:
        case Number(value):
            return _constant(value)
        case Name(name):
            return _atom(name)
        case Binary("+", left, right):
            return _sum(_polynomial(left), _polynomial(right))
        case Binary("-", left, right):
            return _sum(_polynomial(left), _polynomial(right), -1)
        case Binary("*", left, right):
            return _product(_polynomial(left), _polynomial(right))
        case Binary("/", left, right):
            return _product(_polynomial(left), _reciprocal(right))
        case Extreme(pick, terms):
            return _atom(f"{pick}({', '.join(map(_text, terms))})")
        case If(test, then, other):
            return _atom(f"({_text(then)} if {_condition_text(test)} else {_text(other)})")
    raise TypeError(f"no term: {tree!r}")


def _atom(text, power=1):
    return {((text, power),): Fraction(1)}


def _product(left, right):
    total = {}
    for a, coefficient in left.items():
        for b, factor in right.items():
            total = _sum(total, {_monomial_product(a, b): coefficient * factor})
    return total


def _monomial_product(left, right):
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple((name, power) for name, power in powers.items() if power)


def _reciprocal(tree):
    """1 / tree; the parts of a divisor that is a sum stay together."""
    form = _polynomial(tree)
    if len(form) != 1:
        return _atom(f"({_text(tree)})", -1)
    [(monomial, coefficient)] = form.items()
    return {tuple((name, -power) for name, power in monomial): 1 / coefficient}


def _monomial_text(monomial, coefficient):
    above = [name for name, power in monomial for _ in range(power)]
    below = [name for name, power in monomial for _ in range(-power)]
    if coefficient != 1 or not above:
        above.insert(0, str(coefficient))
    return "·".join(above) + "".join(f"/{name}" for name in below)
