"""Laws that are not linear as C: integers only, with an error that is known.

What is linear in a law is exact where 64 bits hold it. Everything else is worked out in numbers of 32 bits and a power
of two (c/law.h), one operation after another, each of which rounds off less than a 2^31st.
"""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError
from ccmatic.compilers.text import text
from ccmatic.language import Binary, Comparison, Extreme, Function, If, Local, Name, Number, parts

#: How many bits of a number are kept, and so how many of an operation are right at least.
_BITS = 32
_RIGHT = _BITS - 1

#: What a second is, in steps.
_SECOND = "ccm_over(ccm_of(1000000000, 1), ccm_of((int64_t)step_ns, 1))"

_CALLED = {"+": "ccm_plus", "-": "ccm_plus", "*": "ccm_times", "/": "ccm_over"}
_PICKED = {"max": "ccm_larger", "min": "ccm_smaller"}


@dataclass(frozen=True)
class Rounded:
    """A number of a law in C. word: its expression. roundings: how many 2^31sts it is wrong by at most, of itself where
    it is `relative`; else of the sum of the sizes of the terms that it adds up."""

    word: str
    roundings: int
    relative: bool = True

    @property
    def error(self):
        """What it is wrong by at most, in words."""
        bits = _RIGHT - self.roundings.bit_length()
        return f"2^-{bits} of {'itself' if self.relative else 'the sum of the sizes of its terms'}"


class Law:
    """Writes one law. writer: an Expression that reads delays themselves; line: where the law stands.

    `lines`: statements that have to stand before what is written."""

    def __init__(self, writer, line, made=0):
        self.writer, self.line, self.made = writer, line, made
        self.lines, self.known = [], {}

    def number(self, tree):
        """A Rounded of a term. Raises InputError for one whose error is not known."""
        if id(tree) not in self.known:
            found = self.written(tree)
            if "(" in found.word:
                self.made += 1
                self.lines.append(f"const uint64_t law_{self.made} = {found.word};")
                found = Rounded(f"law_{self.made}", found.roundings, found.relative)
            self.known[id(tree)] = found
        return self.known[id(tree)]

    def written(self, tree):
        value = self.writer.constant(tree)
        if value is not None:
            return literal(value)
        if found := self.exact(tree):
            common, most = found
            roundings = (most >= 2**_BITS) + (common > 1)
            return Rounded(f"ccm_of({self.writer.term(tree, common)}, {common})", roundings)
        match tree:
            case Name("second"):
                return Rounded(_SECOND, 2)
            case Binary("-", left, right) if self.writer.constant(left) == 0:
                negated = self.number(right)
                return Rounded(f"ccm_negated({negated.word})", negated.roundings, negated.relative)
            case Binary(op, left, right):
                return self.operation(op, self.number(left), self.divisor(right) if op == "/" else self.number(right))
            case Local(_, part):
                return self.number(part)
            case Function("cbrt", (part,)):
                root = self.certain(part, f"takes the cube root of `{text(part)}`")
                return Rounded(f"ccm_cube_root({root.word})", root.roundings + 3)
            case Extreme(pick, terms):
                first, *others = map(self.number, terms)
                for other in others:
                    first = _either(f"{_PICKED[pick]}({first.word}, {other.word})", first, other)
                return first
            case If(test, then, other):
                test = self.writer.condition(test)
                if isinstance(test, bool):
                    return self.number(then if test else other)
                one, two = self.number(then), self.number(other)
                return _either(f"({test} ? {one.word} : {two.word})", one, two)
        raise TypeError(f"no term: {tree!r}")

    def operation(self, op, left, right):
        second = f"ccm_negated({right.word})" if op == "-" else right.word
        word = f"{_CALLED[op]}({left.word}, {second})"
        if op in "+-":
            return Rounded(word, max(left.roundings, right.roundings) + 1, False)
        return Rounded(word, left.roundings + right.roundings + 1, left.relative and right.relative)

    def divisor(self, tree):
        if self.writer.constant(tree) == 0:
            self.refuse(f"divides by `{text(tree)}`, which is 0 here; expected a divisor other than 0")
        return self.certain(tree, f"divides by `{text(tree)}`")

    def certain(self, tree, what):
        """A number that may be close to 0 only where what it stands for is."""
        found = self.number(tree)
        if not found.relative:
            self.refuse(f"{what}, a sum of what C rounds; expected a sum that is linear and needs no more than 64 bits")
        return found

    def require_exact_tests(self, tree):
        """Raise InputError for a comparison in a law that C cannot decide exactly."""
        for part in parts(tree):
            self.require_exact_tests(part)
            if isinstance(tree, Comparison) and not self.is_linear(part):
                self.refuse(f"compares `{text(part)}`, which C cannot decide exactly; expected linear terms")

    def exact(self, tree):
        """The common denominator of the coefficients of a term that 64 bits hold, and the most that it is by then."""
        if not self.is_linear(tree):
            return None
        common, most = self.writer.denominator_and_most(tree)
        return (common, most) if max(common, most) < 2**62 else None

    def is_linear(self, tree):
        """Whether a term has no quotient, no root and no `second`; it may have products, as of a delay and a window."""
        match tree:
            case Number():
                return True
            case Local(_, term):
                return self.is_linear(term)
            case Name(name):
                return name != "second"
            case Binary("/", left, right):
                return self.is_linear(left) and bool(self.writer.constant(right))
            case Binary(_, left, right):
                return self.is_linear(left) and self.is_linear(right)
            case Extreme(_, terms):
                return all(map(self.is_linear, terms))
            case If(_, then, other):
                return self.is_linear(then) and self.is_linear(other)
        return False

    def refuse(self, why):
        raise InputError(f"the law {why}", self.writer.file, self.line)


def literal(value):
    """A Rounded of a known number."""
    size, sign = abs(value), int(value < 0)
    if not size:
        return Rounded("0", 0)
    power = size.numerator.bit_length() - size.denominator.bit_length() - _BITS
    power += size >= Fraction(2) ** (power + _BITS)
    kept = round(size / Fraction(2) ** power)
    if kept == 2**_BITS:
        kept, power = kept // 2, power + 1
    word = sign << 63 | kept << 16 | power + 2**15
    return Rounded(f"UINT64_C({word:#x})", int(kept * Fraction(2) ** power != size))


def _either(word, one, other):
    return Rounded(word, max(one.roundings, other.roundings), one.relative and other.relative)
