"""Laws that are not linear as C: integers only, with an error that is known.

What is linear in a law is exact where 64 bits hold it. Everything else is worked out in numbers of 32 bits and a power
of two (c/law.h), one operation after another, each of which rounds off less than a 2^31st.
"""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import InputError
from ccmatic.compilers.c.expression import MOST
from ccmatic.compilers.text import text
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


class Law(Walker):
    """Writes one law. writer: an Expression that reads delays themselves; line: where the law stands.

    name: of its variables, with numbers from `made` on. `lines`: statements that stand before what is written."""

    WORLD = "meaning in C"

    def __init__(self, writer, line, made=0, name="law"):
        super().__init__(writer.file)
        self.writer, self.line, self.made, self.name = writer, line, made, name
        self.lines, self.is_linear = [], _IsLinear(writer).walk

    def number(self, tree):
        """A Rounded of a term. Raises InputError for one whose error is not known."""
        return self.walk(tree)

    def visit_object(self, node):
        """What is known or linear, at once; of other terms, an operation on numbers, in a variable of its own."""
        value = self.writer.constant(node)
        if value is not None:
            return literal(value)
        if form := self.exact(node):
            common, most = form
            roundings = (most >= 2**_BITS) + (common > 1)
            return self.kept(Rounded(f"ccm_of({self.writer.term(node, common)}, {common})", roundings))
        return self.kept((yield from self.written(node)))

    visit_Local = visit_Function = visit_object

    def kept(self, number):
        """A number, in a variable if it is worked out."""
        if "(" not in number.word:
            return number
        return Rounded(self.declare(f"const uint64_t {{}} = {number.word};"), number.roundings, number.relative)

    def declare(self, *statements):
        """The name of a new variable, of which statements are written."""
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
                return Rounded(_SECOND, 2)
            case Binary("-", left, right) if self.writer.constant(left) == 0:
                negated = yield right
                return Rounded(f"ccm_negated({negated.word})", negated.roundings, negated.relative)
            case Binary(op, left, right):
                one, other = (yield left), (yield right)
                return self.operation(op, one, self.divisor(right, other) if op == "/" else other)
            case Function("cbrt", (part,)):
                root = self.certain((yield part), f"takes the cube root of `{text(part)}`")
                return Rounded(f"ccm_cube_root({root.word})", root.roundings + 3)
            case Function(name):
                self.refuse(node, f"{name} has no {self.WORLD} of integers")
            case Extreme(pick, terms):
                first, *others = yield from self.each(terms)
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
            return Rounded(word, max(left.roundings, right.roundings) + 1, False)
        return Rounded(word, left.roundings + right.roundings + 1, left.relative and right.relative)

    def component(self, item):
        """A component of a vector; that of a layer is worked out with its others."""
        layer = bare(item.vector)
        if not isinstance(layer, Affine):
            return (yield self.writer.components.of(item))
        whole = yield layer
        return Rounded(f"{whole.word}[{item.index}]", whole.roundings, whole.relative)

    def visit_Affine(self, node):
        """A layer: an array of its numbers, all as wrong as any."""
        inputs = yield from self.each(self.writer.components.all(node.vector))
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
        return Rounded(name, most + count, False)

    def divisor(self, tree, number):
        if self.writer.constant(tree) == 0:
            self.refuse(tree, f"divides by `{text(tree)}`, which is 0 here; expected a divisor other than 0")
        return self.certain(number, f"divides by `{text(tree)}`")

    def certain(self, number, what):
        """A number that may be close to 0 only where what it stands for is."""
        if not number.relative:
            expected = "expected a sum that is linear and needs no more than 64 bits"
            self.refuse(None, f"{what}, a sum of what C rounds; {expected}")
        return number

    def require_exact_tests(self, tree):
        """Raise InputError for a comparison in a law that C cannot decide exactly."""
        for node in nodes(tree):
            for part in parts(node) if isinstance(node, Comparison) else ():
                if not self.is_linear(part):
                    self.refuse(node, f"compares `{text(part)}`, which C cannot decide exactly; expected linear terms")

    def exact(self, tree):
        """The common denominator of the coefficients of a term that 64 bits hold, and the most that it is by then."""
        if not self.is_linear(tree) or not self.writer.extents.walk(tree).is_written_out:
            return None
        common, most = self.writer.denominator_and_most(tree)
        return (common, most) if max(common, most) < MOST else None

    def refuse(self, node, why):
        raise InputError(f"{'the law ' * (self.name == 'law')}{why}", self.file, self.line)


def wide(writer, tree):
    """Return the Rounded of a term that 64 bits do not hold exactly; `writer` declares the variables that it needs."""
    law = Law(writer, getattr(tree, "line", None), writer.made, "wide")
    law.require_exact_tests(tree)
    number = law.number(tree)
    writer.made = law.made
    writer.declarations += law.lines
    return number


class _IsLinear(Walker):
    """Whether a term has no quotient, no root and no `second`; it may have products, as of a delay and a window."""

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
        return all((yield from self.each(node.terms)))

    def visit_If(self, node):
        return (yield node.then) and (yield node.other)

    def visit_Item(self, node):
        return (yield self.writer.components.of(node))

    def visit_object(self, node):
        return False

    visit_Function = visit_object


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


def _words(numbers):
    return ", ".join(number.word for number in numbers)
