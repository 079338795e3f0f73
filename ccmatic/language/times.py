"""Lower bounds on time offsets in a program over a window. A negative offset would read a future time."""

from collections.abc import Mapping
from fractions import Fraction

from ccmatic.language.tree import Binary, Extreme, If, Name, Number, Tree

#: A linear form: a mapping from each name to its coefficient. The entry of the empty name is the constant.
_Form = dict[str, Fraction]

#: Lower bounds, in steps, on multiples of a constant and on multiples of R_m.
_LEAST = {"": Fraction(1), "R_m": Fraction(1)}


def least_back(back: Tree, since: Mapping[str, str | None]) -> Fraction | None:
    """Return a lower bound on a time offset in steps; None if no bound is known.

    `since` has, for each comprehension, the outermost first, the time that its own time must follow; None if its time
    ranges over the whole window.
    """
    match back:
        case Extreme(pick, terms):
            bounds = [least_back(term, since) for term in terms]
            known = [bound for bound in bounds if bound is not None]
            if pick == "max":
                return max(known, default=None)
            return min(known) if len(known) == len(bounds) else None
        case If(_, then, other):
            bounds = [least_back(then, since), least_back(other, since)]
            return None if None in bounds else min(bound for bound in bounds if bound is not None)
    form = _linear(back)
    return None if form is None else _least_of(form, since)


def _least_of(form: _Form, since: Mapping[str, str | None]) -> Fraction | None:
    """Return a lower bound on the value of a linear form.

    A time that follows another time is smaller by at least one step. Each time is at most the age of the window.
    """
    for index, outer in reversed([*since.items()]):
        coefficient = form.get(index, Fraction(0))
        if coefficient < 0:
            most = {"time": Fraction(1)} if outer is None else {outer: Fraction(1), "": Fraction(-1)}
            form = _sum({**form, index: Fraction(0)}, most, coefficient)
    bounds = {**_LEAST, **{index: Fraction(outer is None) for index, outer in since.items()}}
    if any(coefficient < 0 and name for name, coefficient in form.items()):
        return None
    return sum((coefficient * bounds.get(name, 0) for name, coefficient in form.items()), Fraction(0))


def _linear(tree: Tree) -> _Form | None:
    """Return a term as a linear form; None if the term is not linear."""
    match tree:
        case Number(value):
            return {"": value}
        case Name("step"):
            return {"": Fraction(1)}
        case Name(name):
            return {name: Fraction(1)}
        case Binary(op, left, right):
            one, other = _linear(left), _linear(right)
            if one is None or other is None:
                return None
            match op:
                case "+" | "-":
                    return _sum(one, other, Fraction(1 if op == "+" else -1))
                case "*" if one.keys() <= {""} or other.keys() <= {""}:
                    factor, term = (one, other) if one.keys() <= {""} else (other, one)
                    return _sum({}, term, factor.get("", Fraction(0)))
                case "/" if other.keys() == {""} and other[""]:
                    return _sum({}, one, 1 / other[""])
    return None


def _sum(form: _Form, other: _Form, factor: Fraction) -> _Form:
    names = form.keys() | other.keys()
    return {name: form.get(name, Fraction(0)) + factor * other.get(name, Fraction(0)) for name in names}
