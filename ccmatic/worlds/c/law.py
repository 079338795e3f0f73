"""Nonlinear control laws, such as a cube root, as C code with integers only. The error of the result is known.

Linear parts of a law are exact if 64 bits hold them. All other parts are computed with a 32-bit mantissa and a power of
two (c/law.h). Each operation rounds off less than 2^-31 of its result.
"""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError
from ccmatic.language import (
    Affine,
    Binary,
    Comparison,
    Extreme,
    Function,
    If,
    Item,
    Local,
    Name,
    Walker,
    bare,
    nodes,
    parts,
)
from ccmatic.worlds.c.expression import MOST
from ccmatic.worlds.text import text

#: The number of bits of a mantissa, and the smallest number of correct bits after an operation.
_BITS = 32
_RIGHT = _BITS - 1

#: The length of a second in steps, as a C expression.
_SECOND = "ccm_over(ccm_of(1000000000, 1), ccm_of((int64_t)step_ns, 1))"

_CALLED = {"+": "ccm_plus", "-": "ccm_plus", "*": "ccm_times", "/": "ccm_over"}
_PICKED = {"max": "ccm_larger", "min": "ccm_smaller"}


@dataclass(frozen=True)
class RoundedNumber:
    """A number of a law in C code.

    Attributes:
        word: The C expression of the number.
        roundings: The largest error, in units of 2^-31. If `relative`, the error is multiplied by the number's absolute
            value. Otherwise the error is multiplied by the sum of the summands' absolute values.
        relative: Whether the error is relative to the number itself.
    """

    word: str
    roundings: int
    relative: bool = True

    @property
    def error(self):
        bits = _RIGHT - self.roundings.bit_length()
        return f"2^-{bits} of {'itself' if self.relative else 'the sum of the sizes of its terms'}"


class Law(Walker):
    """Writes one law as C code. Its `writer` reads exact delays instead of their whole steps.

    New variables have the prefix `name` and numbers from `made` on. `lines` has the statements before the law's
    expression.
    """

    WORLD = "meaning in C"

    def __init__(self, writer, line, made=0, name="law"):
        super().__init__(writer.file)
        self.writer, self.line, self.made, self.name = writer, line, made, name
        self.lines, self.is_linear = [], _IsLinear(writer).walk

    def number(self, tree):
        """InputError if the error of the term is not known."""
        return self.walk(tree)

    def visit_object(self, node):
        """Write known and linear terms as C expressions; a new C variable holds the result of any other operation."""
        value = self.writer.constant(node)
        if value is not None:
            return literal(value)
        if form := self.exact(node):
            common, most = form
            roundings = (most >= 2**_BITS) + (common > 1)
            return self.in_variable(RoundedNumber(f"ccm_of({self.writer.term(node, common)}, {common})", roundings))
        return self.in_variable((yield from self.written(node)))

    visit_Local = visit_Function = visit_object

    def in_variable(self, number):
        if "(" not in number.word:
            return number
        return RoundedNumber(self.declare(f"const uint64_t {{}} = {number.word};"), number.roundings, number.relative)

    def declare(self, *statements):
        self.made += 1
        name = f"{self.name}_{self.made}"
        self.lines += [statement.format(name) for statement in statements]
        return name

    def written(self, node):
        match node:
            case Local(_, part):
                return (yield part)
            case Item():
                return (yield from self.component(node))
            case Name("second"):
                return RoundedNumber(_SECOND, 2)
            case Binary("-", left, right) if self.writer.constant(left) == 0:
                negated = yield right
                return RoundedNumber(f"ccm_negated({negated.word})", negated.roundings, negated.relative)
            case Binary(op, left, right):
                one, other = (yield left), (yield right)
                return self.operation(op, one, self.divisor(right, other) if op == "/" else other)
            case Function("cbrt", (part,)):
                root = self.require_relative((yield part), f"takes the cube root of `{text(part)}`")
                return RoundedNumber(f"ccm_cube_root({root.word})", root.roundings + 3)
            case Function(name):
                self.refuse(node, f"{name} has no {self.WORLD} of integers")
            case Extreme(pick, terms):
                first, *others = yield from self.results(terms)
                for other in others:
                    first = _either(f"{_PICKED[pick]}({first.word}, {other.word})", first, other)
                return first
            case If(test, then, other):
                test = self.writer.condition(test)
                if isinstance(test, bool):
                    return (yield then if test else other)
                one, two = (yield then), (yield other)
                return _either(f"({test} ? {one.word} : {two.word})", one, two)
        self.refuse(node, f"`{text(node)}` has no {self.WORLD}")

    def operation(self, op, left, right):
        second = f"ccm_negated({right.word})" if op == "-" else right.word
        word = f"{_CALLED[op]}({left.word}, {second})"
        if op in "+-":
            return RoundedNumber(word, max(left.roundings, right.roundings) + 1, False)
        return RoundedNumber(word, left.roundings + right.roundings + 1, left.relative and right.relative)

    def component(self, item):
        """Return a component of a vector. All components of a layer are computed together."""
        layer = bare(item.vector)
        if not isinstance(layer, Affine):
            return (yield self.writer.components.of(item))
        whole = yield layer
        return RoundedNumber(f"{whole.word}[{item.index}]", whole.roundings, whole.relative)

    def visit_Affine(self, node):
        """Write a network layer as an array. The largest error among the components applies to all of them."""
        inputs = yield from self.results(self.writer.components.all(node.vector))
        x = self.declare(f"const uint64_t {{}}[] = {{{{{_words(inputs)}}}}};")
        weights = [literal(weight) for row in node.weights for weight in row]
        bias = [literal(number) for number in node.bias]
        count = len(inputs)
        name = self.declare(
            f"static const uint64_t {{}}_weights[] = {{{{{_words(weights)}}}}};",
            f"static const uint64_t {{}}_bias[] = {{{{{_words(bias)}}}}};",
            f"uint64_t {{}}[{len(bias)}];",
            f"for (unsigned i = 0; i < {len(bias)}; i++) {{{{",
            "    {0}[i] = {0}_bias[i];",
            f"    for (unsigned j = 0; j < {count}; j++)",
            f"        {{0}}[i] = ccm_plus({{0}}[i], ccm_times({{0}}_weights[i * {count} + j], {x}[j]));",
            "}}",
        )
        most = max(each.roundings for each in inputs) + max(each.roundings for each in (*weights, *bias)) + 1
        return RoundedNumber(name, most + count, False)

    def divisor(self, tree, number):
        if self.writer.constant(tree) == 0:
            self.refuse(tree, f"divides by `{text(tree)}`, which is 0 here; expected a divisor other than 0")
        return self.require_relative(number, f"divides by `{text(tree)}`")

    def require_relative(self, number, what):
        """Only if its error is relative, a number is close to 0 only if its exact value is."""
        if not number.relative:
            expected = "expected a sum that is linear and needs no more than 64 bits"
            self.refuse(None, f"{what}, a sum of numbers that C rounds; {expected}")
        return number

    def require_exact_tests(self, tree):
        """Raise InputError for a comparison in a law that C code cannot decide exactly."""
        for node in nodes(tree):
            for part in parts(node) if isinstance(node, Comparison) else ():
                if not self.is_linear(part):
                    self.refuse(node, f"compares `{text(part)}`, which C cannot decide exactly; expected linear terms")

    def exact(self, tree):
        """Return the common denominator and the largest value of a term if 64 bits hold the term; otherwise None."""
        if not self.is_linear(tree) or not self.writer.extents.walk(tree).is_written_out:
            return None
        common, most = self.writer.denominator_and_most(tree)
        return (common, most) if max(common, most) < MOST else None

    def refuse(self, node, why):
        raise InputError(f"{'the law ' * (self.name == 'law')}{why}", self.file, self.line)


def wide(writer, tree):
    law = Law(writer, getattr(tree, "line", None), writer.made, "wide")
    law.require_exact_tests(tree)
    number = law.number(tree)
    writer.made = law.made
    writer.declarations += law.lines
    return number


class _IsLinear(Walker):
    """Decides whether a term contains no quotient, root or `second`. Products, as of delay and window, are allowed."""

    def __init__(self, writer):
        super().__init__()
        self.writer = writer

    def visit_Number(self, node):
        return True

    def visit_Name(self, node):
        return node.name != "second"

    def visit_Binary(self, node):
        if node.op == "/" and not self.writer.constant(node.right):
            return False
        return (yield node.left) and (node.op == "/" or (yield node.right))

    def visit_Extreme(self, node):
        return all((yield from self.results(node.terms)))

    def visit_If(self, node):
        return (yield node.then) and (yield node.other)

    def visit_Item(self, node):
        return (yield self.writer.components.of(node))

    def visit_object(self, node):
        return False

    visit_Function = visit_object


def literal(value):
    size, sign = abs(value), int(value < 0)
    if not size:
        return RoundedNumber("0", 0)
    power = size.numerator.bit_length() - size.denominator.bit_length() - _BITS
    power += size >= Fraction(2) ** (power + _BITS)
    kept = round(size / Fraction(2) ** power)
    if kept == 2**_BITS:
        kept, power = kept // 2, power + 1
    word = sign << 63 | kept << 16 | power + 2**15
    return RoundedNumber(f"UINT64_C({word:#x})", int(kept * Fraction(2) ** power != size))


def _either(word, one, other):
    return RoundedNumber(word, max(one.roundings, other.roundings), one.relative and other.relative)


def _words(numbers):
    return ", ".join(number.word for number in numbers)
