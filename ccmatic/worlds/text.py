"""A printer of controllers as mathematics. Terms are multiplied out, with exact fractions before names.

Short terms contain the expressions of assigned names instead of the names. Long terms keep the names, and the end of
the text defines them.
"""

from fractions import Fraction

from ccmatic.language import Between, Extents, If, Impossible, Logic, Name, Walker, bare, componentwise, value

# A polynomial is a dict from monomials to nonzero coefficients. A monomial is a tuple of (name, power) pairs.

_SIGNS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=", "!=": "≠"}


def text(tree):
    """Return a term or a condition as text. The text of a term is a sum of products: an exact fraction times names."""
    return Text().of(tree)


def listing(tree):
    """Return the lines of a controller's body: if, elif, else and `rate = …`. The definitions of names follow."""
    words = Text()
    return [*words.listing(tree, words.rate), *words.definitions()]


def way_taken(tree, values, line=0):
    """Return the lines of `listing` that the controller executes at given values, without `else` lines.

    Each line is mapped to whether the condition in it holds, and the last, of the rate, to True. The first line has the
    number `line`. ZeroDivisionError if the controller itself would raise it.
    """
    if not isinstance(tree, If):
        return {line: True}
    if value(tree.test, values):
        return {line: True, **way_taken(tree.then, values, line + 1)}
    words = Text()
    after = line + 1 + len(words.listing(tree.then, words.rate))
    return {line: False, **way_taken(tree.other, values, after + (not isinstance(tree.other, If)))}


class Text(Walker):
    """Prints trees with shared assignments.

    The walk represents a term as a polynomial, a vector as a tuple of polynomials, and a condition as text. The context
    of a visit states whether assigned names are expanded.
    """

    WORLD = "text"

    def __init__(self):
        super().__init__()
        self.extents, self.locals = Extents(), {}

    def of(self, tree):
        return _printed(self.walk(tree, self.extents.walk(tree).is_written_out))

    def listing(self, tree, leaf, indent="", word="if"):
        """Return the lines of a body; `leaf` returns those of a tree that is no If, and `word` begins the first one."""
        if not isinstance(tree, If):
            return [f"{indent}{line}" for line in leaf(tree)]
        lines = [f"{indent}{word} {self.of(tree.test)}:", *self.listing(tree.then, leaf, indent + "    ")]
        if isinstance(tree.other, If):
            return [*lines, *self.listing(tree.other, leaf, indent, "elif")]
        return [*lines, f"{indent}else:", *self.listing(tree.other, leaf, indent + "    ")]

    def rate(self, tree):
        if isinstance(tree, Between):
            return [f"{self.of(tree.low)} ≤ rate ≤ {self.of(tree.high)}"]
        return [f"rate = {self.of(tree)}"]

    def became(self, tree):
        """Return lines with the new values of the state variables that a branch of an update changes."""
        if isinstance(tree, Impossible):
            return ["impossible"]
        changed = [(name, value) for name, value in tree.values.items() if value != Name(name)]
        return [f"{name} = {self.of(value)}" for name, value in changed] or ["as before"]

    def definitions(self):
        """Return lines with the definitions of the names that occur in the lines so far."""
        lines, listed = [], 0
        while listed < len(self.locals):
            name, node = list(self.locals.items())[listed]
            lines.append(f"where {name} = {_printed(self.walk(node.term, False))}")
            listed += 1
        return lines

    def visit_Local(self, node, out):
        return (yield node.term, True) if out else _atom(self.name(node))

    def name(self, node):
        """Add a number if another Local has the same name."""
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
        return _atom(f"{node.name}[{_printed((yield node.back, out))}]")

    def visit_Function(self, node, out):
        several = yield from self.results(node.parts, out)
        return componentwise(lambda *each: _atom(f"{node.name}({_comma_separated(each)})"), *several)

    def visit_Bounded(self, node, out):
        law, low, high = [_printed(part) for part in (yield from self.results((node.law, node.low, node.high), out))]
        return _atom(f"{law}, known to lie from {low} to {high}")

    def visit_Between(self, node, out):
        low, high = (yield node.low, out), (yield node.high, out)
        return _atom(f"any from {_printed(low)} to {_printed(high)}")

    def visit_AnyOf(self, node, out):
        return _atom(f"any of {_comma_separated((yield from self.results(node.terms, out)))}")

    def visit_Binary(self, node, out):
        left, right = (yield node.left, out), (yield node.right, out)
        return componentwise(_ARITHMETIC[node.op], left, right)

    def visit_Extreme(self, node, out):
        several = yield from self.results(node.terms, out)
        return componentwise(lambda *each: _atom(f"{node.pick}({_comma_separated(each)})"), *several)

    def visit_If(self, node, out):
        test, then, other = yield from self.results((node.test, node.then, node.other), out)
        return componentwise(lambda a, b: _atom(f"({_printed(a)} if {_printed(test)} else {_printed(b)})"), then, other)

    def visit_Vector(self, node, out):
        return tuple((yield from self.results(node.terms, out)))

    def visit_Item(self, node, out):
        vector = yield node.vector, out
        return vector[node.index] if isinstance(vector, tuple) else _atom(f"{_printed(vector)}[{node.index}]")

    def visit_Affine(self, node, out):
        vector = yield node.vector, out
        if not out or isinstance(node.weights, str) or isinstance(node.bias, str):
            return _atom(f"(W·{_printed(vector)} + b)")
        rows = zip(node.weights, node.bias, strict=True)
        return tuple(_weighted(row, vector, bias) for row, bias in rows)

    def visit_Comparison(self, node, out):
        left, right = (yield node.left, out), (yield node.right, out)
        return f"{_printed(left)} {_SIGNS[node.op]} {_printed(right)}"

    def visit_Logic(self, node, out):
        if not node.parts:
            return "true" if node.op == "and" else "false"
        written = yield from self.results(node.parts, out)
        nested = [
            isinstance(bare(part), Logic) and isinstance(words, str)
            for part, words in zip(node.parts, written, strict=True)
        ]
        return f" {node.op} ".join(
            f"({_printed(words)})" if inner else _printed(words) for words, inner in zip(written, nested, strict=True)
        )

    def visit_Not(self, node, out):
        return f"not ({_printed((yield node.part, out))})"


def _printed(result):
    if isinstance(result, str):
        return result
    return f"[{_comma_separated(result)}]" if isinstance(result, tuple) else _sum_text(result)


def _comma_separated(several):
    return ", ".join(map(_printed, several))


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
    """A sum in a divisor is not split."""
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
