"""Prints controllers as mathematics: terms multiplied out, with exact fractions before names.

What is assigned is written out in short terms. In long ones it stands by its name, and is listed at the end.
"""

from fractions import Fraction

from ccmatic.language import Between, Extents, If, Impossible, Logic, Name, Walker, bare, componentwise, value

# A polynomial is a dict from a monomial, a tuple of (name, power), to its coefficient, never 0.

_SIGNS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=", "!=": "≠"}


def text(tree):
    """A term or a condition as text; a term is multiplied out: a sum of exact fractions times names."""
    return Text().of(tree)


def listing(tree):
    """The lines, a list of texts, of a controller's body: if, elif, else and `rate = …`; then what names stand for."""
    words = Text()
    return [*words.listing(tree, words.rate), *words.definitions()]


def way_taken(tree, values, line=0):
    """Numbers of the lines of `listing` that are read at these values, each with whether its condition holds;
    the last is the rate's, with True. An `else` is not listed. Raises ZeroDivisionError as the controller would."""
    if not isinstance(tree, If):
        return {line: True}
    if value(tree.test, values):
        return {line: True, **way_taken(tree.then, values, line + 1)}
    words = Text()
    after = line + 1 + len(words.listing(tree.then, words.rate))
    return {line: False, **way_taken(tree.other, values, after + (not isinstance(tree.other, If)))}


class Text(Walker):
    """Prints trees that share what is assigned: a term as a polynomial, a vector as a tuple of them, a condition as
    text. Context: whether what is assigned is written out."""

    WORLD = "text"

    def __init__(self):
        super().__init__()
        self.extents, self.locals = Extents(), {}

    def of(self, tree):
        """A term or a condition as text."""
        return _said(self.walk(tree, self.extents.walk(tree).is_written_out))

    def listing(self, tree, leaf, indent="", word="if"):
        """The lines, a list of texts, of a body: if, elif, else, and those that `leaf` gives of how a path ends.
        indent: before each; word: of the first condition."""
        if not isinstance(tree, If):
            return [f"{indent}{line}" for line in leaf(tree)]
        lines = [f"{indent}{word} {self.of(tree.test)}:", *self.listing(tree.then, leaf, indent + "    ")]
        if isinstance(tree.other, If):
            return [*lines, *self.listing(tree.other, leaf, indent, "elif")]
        return [*lines, f"{indent}else:", *self.listing(tree.other, leaf, indent + "    ")]

    def rate(self, tree):
        """The line, in a list, of what a path returns."""
        if isinstance(tree, Between):
            return [f"{self.of(tree.low)} ≤ rate ≤ {self.of(tree.high)}"]
        return [f"rate = {self.of(tree)}"]

    def became(self, tree):
        """The lines, a list of texts, of how a path through an update ends: what state becomes, where it changes."""
        if isinstance(tree, Impossible):
            return ["impossible"]
        changed = [(name, value) for name, value in tree.values.items() if value != Name(name)]
        return [f"{name} = {self.of(value)}" for name, value in changed] or ["as before"]

    def definitions(self):
        """The lines, a list of texts, of the names that stand for what is assigned in lines so far."""
        lines, listed = [], 0
        while listed < len(self.locals):
            name, node = list(self.locals.items())[listed]
            lines.append(f"where {name} = {_said(self.walk(node.term, False))}")
            listed += 1
        return lines

    def visit_Local(self, node, out):
        return (yield node.term, True) if out else _atom(self.name(node))

    def name(self, node):
        """The name of a Local: its own, or with a number, if another has that."""
        number, name = 1, node.name
        while self.locals.setdefault(name, node) is not node:
            number += 1
            name = f"{node.name}_{number}"
        return name

    def visit_Number(self, node, out):
        return _constant(node.value)

    def visit_Name(self, node, out):
        return _atom(node.name)

    def visit_Past(self, node, out):
        return _atom(f"{node.name}[{_said((yield node.back, out))}]")

    def visit_Function(self, node, out):
        several = yield from self.each(node.parts, out)
        return componentwise(lambda *each: _atom(f"{node.name}({_listed(each)})"), *several)

    def visit_Bounded(self, node, out):
        law, low, high = [_said(part) for part in (yield from self.each((node.law, node.low, node.high), out))]
        return _atom(f"{law}, known to lie from {low} to {high}")

    def visit_Between(self, node, out):
        low, high = (yield node.low, out), (yield node.high, out)
        return _atom(f"any from {_said(low)} to {_said(high)}")

    def visit_AnyOf(self, node, out):
        return _atom(f"any of {_listed((yield from self.each(node.terms, out)))}")

    def visit_Binary(self, node, out):
        left, right = (yield node.left, out), (yield node.right, out)
        return componentwise(_ARITHMETIC[node.op], left, right)

    def visit_Extreme(self, node, out):
        several = yield from self.each(node.terms, out)
        return componentwise(lambda *each: _atom(f"{node.pick}({_listed(each)})"), *several)

    def visit_If(self, node, out):
        test, then, other = yield from self.each((node.test, node.then, node.other), out)
        return componentwise(lambda a, b: _atom(f"({_said(a)} if {_said(test)} else {_said(b)})"), then, other)

    def visit_Vector(self, node, out):
        return tuple((yield from self.each(node.terms, out)))

    def visit_Item(self, node, out):
        vector = yield node.vector, out
        return vector[node.index] if isinstance(vector, tuple) else _atom(f"{_said(vector)}[{node.index}]")

    def visit_Affine(self, node, out):
        vector = yield node.vector, out
        if not out or isinstance(node.weights, str) or isinstance(node.bias, str):
            return _atom(f"(W·{_said(vector)} + b)")
        rows = zip(node.weights, node.bias, strict=True)
        return tuple(_weighted(row, vector, bias) for row, bias in rows)

    def visit_Comparison(self, node, out):
        left, right = (yield node.left, out), (yield node.right, out)
        return f"{_said(left)} {_SIGNS[node.op]} {_said(right)}"

    def visit_Logic(self, node, out):
        if not node.parts:
            return "true" if node.op == "and" else "false"
        written = yield from self.each(node.parts, out)
        nested = [
            isinstance(bare(part), Logic) and isinstance(words, str)
            for part, words in zip(node.parts, written, strict=True)
        ]
        return f" {node.op} ".join(
            f"({_said(words)})" if inner else _said(words) for words, inner in zip(written, nested, strict=True)
        )

    def visit_Not(self, node, out):
        return f"not ({_said((yield node.part, out))})"


def _said(result):
    """A polynomial, a tuple of them or a condition as text."""
    if isinstance(result, str):
        return result
    return f"[{_listed(result)}]" if isinstance(result, tuple) else _sum_text(result)


def _listed(several):
    return ", ".join(map(_said, several))


def _sum_text(form):
    written = ""
    for monomial, coefficient in form.items():
        sign = " - " if coefficient < 0 else " + "
        written += (sign if written else sign.strip(" +")) + _monomial_text(monomial, abs(coefficient))
    return written or "0"


def _weighted(row, vector, bias):
    total = {}
    for weight, term in zip(row, vector, strict=True):
        total = _sum(total, term, weight)
    return _sum(total, _constant(bias))


def _atom(name, power=1):
    return {((name, power),): Fraction(1)}


def _product(left, right):
    total = {}
    for a, coefficient in left.items():
        for b, factor in right.items():
            monomial = _monomial_product(a, b)
            total[monomial] = total.get(monomial, 0) + coefficient * factor
            if not total[monomial]:
                del total[monomial]
    return total


def _monomial_product(left, right):
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple((name, power) for name, power in powers.items() if power)


def _reciprocal(form):
    """1 / form; the parts of a divisor that is a sum stay together."""
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


_ARITHMETIC = {
    "+": _sum,
    "-": lambda left, right: _sum(left, right, -1),
    "*": _product,
    "/": lambda left, right: _product(left, _reciprocal(right)),
}
