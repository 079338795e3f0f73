"""Prints controllers as mathematics: terms multiplied out, with exact fractions before names."""

from fractions import Fraction

from ccmatic.language.tree import (
    AnyOf,
    Between,
    Binary,
    Bounded,
    Comparison,
    CubeRoot,
    Extreme,
    If,
    Impossible,
    Logic,
    Name,
    Not,
    Number,
    Past,
)

# A polynomial is a dict from a monomial, a tuple of (name, power), to its coefficient, never 0.

_SIGNS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=", "!=": "≠"}


def listing(tree, leaf=lambda tree: [_rate_text(tree)], indent="", word="if"):
    """The lines, a list of texts, of a controller's body: if, elif, else and `rate = …`, or the lines that `leaf` gives
    of how a path ends. indent: before each; word: of the first condition."""
    if not isinstance(tree, If):
        return [f"{indent}{line}" for line in leaf(tree)]
    lines = [f"{indent}{word} {_condition_text(tree.test)}:", *listing(tree.then, leaf, indent + "    ")]
    if isinstance(tree.other, If):
        return [*lines, *listing(tree.other, leaf, indent, "elif")]
    return [*lines, f"{indent}else:", *listing(tree.other, leaf, indent + "    ")]


def became(tree):
    """The lines, a list of texts, of how a path through an update ends: what state becomes, where it changes."""
    if isinstance(tree, Impossible):
        return ["impossible"]
    changed = [(name, value) for name, value in tree.values.items() if value != Name(name)]
    return [f"{name} = {_condition_or_term(value)}" for name, value in changed] or ["as before"]


def _condition_or_term(tree):
    return _condition_text(tree) if isinstance(tree, Comparison | Logic | Not) else text(tree)


def _rate_text(tree):
    if isinstance(tree, Between):
        return f"{text(tree.low)} ≤ rate ≤ {text(tree.high)}"
    return f"rate = {text(tree)}"


def _condition_text(tree):
    match tree:
        case Comparison(op, left, right):
            return f"{text(left)} {_SIGNS[op]} {text(right)}"
        case Logic(op, ()):
            return "true" if op == "and" else "false"
        case Name():
            return text(tree)
        case Logic(op, parts):
            written = [(_condition_text(part), isinstance(part, Logic)) for part in parts]
            return f" {op} ".join(f"({part})" if nested else part for part, nested in written)
        case Not(part):
            return f"not ({_condition_text(part)})"
    raise TypeError(f"no condition: {tree!r}")


def text(tree):
    """A term as text, multiplied out: a sum of exact fractions times names."""
    return _sum_text(_polynomial(tree))


def _sum_text(form):
    written = ""
    for monomial, coefficient in form.items():
        sign = " - " if coefficient < 0 else " + "
        written += (sign if written else sign.strip(" +")) + _monomial_text(monomial, abs(coefficient))
    return written or "0"


def _polynomial(tree):
    match tree:
        case Number(value):
            return _constant(value)
        case Past(name, back):
            return _atom(f"{name}[{text(back)}]")
        case Name(name):
            return _atom(name)
        case CubeRoot(part):
            return _atom(f"cbrt({text(part)})")
        case Bounded(law, low, high):
            return _atom(f"{text(law)}, known to lie from {text(low)} to {text(high)}")
        case Between(low, high):
            return _atom(f"any from {text(low)} to {text(high)}")
        case AnyOf(terms):
            return _atom(f"any of {', '.join(map(text, terms))}")
        case Binary("+", left, right):
            return _sum(_polynomial(left), _polynomial(right))
        case Binary("-", left, right):
            return _sum(_polynomial(left), _polynomial(right), -1)
        case Binary("*", left, right):
            return _product(_polynomial(left), _polynomial(right))
        case Binary("/", left, right):
            return _product(_polynomial(left), _reciprocal(right))
        case Extreme(pick, terms):
            return _atom(f"{pick}({', '.join(map(text, terms))})")
        case If(test, then, other):
            return _atom(f"({text(then)} if {_condition_text(test)} else {text(other)})")
    raise TypeError(f"no term: {tree!r}")


def _atom(name, power=1):
    return {((name, power),): Fraction(1)}


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
        return _atom(f"({_sum_text(form)})", -1)
    [(monomial, coefficient)] = form.items()
    return {tuple((name, -power) for name, power in monomial): 1 / coefficient}


def _monomial_text(monomial, coefficient):
    above = [name for name, power in monomial for _ in range(power)]
    below = [name for name, power in monomial for _ in range(-power)]
    if coefficient != 1 or not above:
        above.insert(0, str(coefficient))
    return "·".join(above) + "".join(f"/{name}" for name in below)


def _constant(number):
    return {(): Fraction(number)} if number else {}


def _sum(left, right, factor=1):
    """left + factor · right."""
    total = dict(left)
    for key, coefficient in right.items():
        total[key] = total.get(key, 0) + factor * coefficient
    return {key: coefficient for key, coefficient in total.items() if coefficient}
