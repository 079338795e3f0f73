"""Terms as C functions of single floats, also those that compute from exact inputs because of a tanh."""

from fractions import Fraction

from ccmatic.base import c_comment
from ccmatic.language import (
    ARITHMETIC,
    Affine,
    Binary,
    Bounded,
    First,
    Function,
    If,
    Name,
    Number,
    Vector,
    Walker,
    parts,
    rebuilt,
)
from ccmatic.worlds.c.expression import MOST

_CALLS = {"cbrt": "cbrtf", "exp": "expf", "log": "logf", "power": "powf", "sqrt": "sqrtf", "tanh": "tanhf"}
_EXTREMES = {"max": "ccm_maximum", "min": "ccm_minimum"}
_LOGIC = {"and": " && ", "or": " || "}


def float_function(name, tree, inputs):
    """Write a term as `static inline void NAME(const float in[], float out[])`, with its arrays of constants.

    `inputs` has the names that the term may read, in the order of the array `in`. If a single name is a vector, it is
    the whole array. A scalar counts as a vector with one component. The code calls functions of `floats.h`.
    """
    writer = _Writer(name, inputs)
    outputs = writer.outputs(writer.walk(tree))
    body = [*writer.statements, *outputs]
    unused = [f"(void){name};" for name, used in (("in", inputs), ("out", outputs)) if not used]
    lines = [
        f"static inline void {name}(const float in[], float out[])",
        "{",
        *(f"    {e}" for e in unused + body),
        "}\n",
    ]
    return "\n".join([*writer.arrays, *lines])


def float_literal(value):
    """Return the single float nearest to a number, as a C literal."""
    return f"{float(value)!r}f"


class _Array(str):
    """The name of an array in C; `size` is its number of floats."""

    __slots__ = ("size",)

    def __new__(cls, name, size):
        made = super().__new__(cls, name)
        made.size = size
        return made


class _Truth(str):
    __slots__ = ()


class _Writer(Walker):
    """Writes the C expressions of a tree. A scalar is text, a vector is an _Array, and a constant is a Fraction."""

    WORLD = "number in C"

    def __init__(self, name, inputs):
        super().__init__()
        scalars = () if isinstance(inputs, str) else inputs
        self.name, self.places = name, {values: place for place, values in enumerate(scalars)}
        self.whole = inputs if isinstance(inputs, str) else None
        self.arrays, self.statements, self.locals = [], [], 0

    def fresh(self, name="x"):
        self.locals += 1
        return f"{name}_{self.locals}"

    def outputs(self, result):
        if isinstance(result, tuple):
            return [f"out[{place}] = {_text(value)};" for place, value in enumerate(result)]
        if isinstance(result, _Array):
            return [f"for (unsigned i = 0; i < {result.size}; i++)", f"    out[i] = {result}[i];"]
        return [f"out[0] = {_text(result)};"]

    def each_component(self, expression, *values):
        """Apply a scalar expression to values, or to each of their components; arrays require a loop over them."""
        sizes = {value.size if isinstance(value, _Array) else len(value) for value in values if _is_vector(value)}
        if not sizes:
            return expression(*values)
        [size] = sizes
        if not any(isinstance(value, _Array) for value in values):
            rows = zip(*(value if _is_vector(value) else (value,) * size for value in values), strict=True)
            return tuple(expression(*row) for row in rows)
        made = _Array(self.fresh(), size)
        arrays = [self.as_array(value) if _is_vector(value) else value for value in values]
        row = (f"{value}[i]" if isinstance(value, _Array) else value for value in arrays)
        self.statements += [f"float {made}[{size}];", f"for (unsigned i = 0; i < {size}; i++)"]
        self.statements.append(f"    {made}[i] = {_text(expression(*row))};")
        return made

    def as_array(self, value):
        if isinstance(value, _Array):
            return value
        made = _Array(self.fresh(), len(value))
        self.statements.append(f"const float {made}[] = {{{', '.join(map(_text, value))}}};")
        return made

    def visit_Number(self, node):
        return node.value

    def visit_Name(self, node):
        if node.name == self.whole:
            return _Array("in", None)
        if node.name not in self.places:
            self.refuse(node, f"reads `{node.name}`, which is not among the inputs of `{self.name}`")
        return f"in[{self.places[node.name]}]"

    def visit_Local(self, node):
        value = yield node.term
        if isinstance(value, Fraction | tuple | _Array) or value.isidentifier():
            return value
        made = self.fresh(node.name)
        self.statements.append(f"const {'bool' if isinstance(value, _Truth) else 'float'} {made} = {value};")
        return type(value)(made)

    def visit_Binary(self, node):
        left, right = (yield node.left), (yield node.right)

        def expression(a, b):
            if isinstance(a, Fraction) and isinstance(b, Fraction) and not (node.op == "/" and b == 0):
                return ARITHMETIC[node.op](a, b)
            return f"({_text(a)} {node.op} {_text(b)})"

        return self.each_component(expression, left, right)

    def visit_Extreme(self, node):
        first, *others = yield from self.results(node.terms)
        for other in others:
            first = self.each_component(lambda a, b: f"{_EXTREMES[node.pick]}({_text(a)}, {_text(b)})", first, other)
        return first

    def visit_Function(self, node):
        values = yield from self.results(node.parts)
        if node.name == "power" and values[0] == 2:
            return self.each_component(lambda x: f"exp2f({_text(x)})", values[1])
        return self.each_component(lambda *each: f"{_CALLS[node.name]}({', '.join(map(_text, each))})", *values)

    def visit_If(self, node):
        test, then, other = yield from self.results((node.test, node.then, node.other))
        return self.each_component(lambda a, b: f"({test} ? {_text(a)} : {_text(b)})", then, other)

    def visit_Comparison(self, node):
        left, right = (yield node.left), (yield node.right)
        return _Truth(f"({_text(left)} {node.op} {_text(right)})")

    def visit_Logic(self, node):
        parts = yield from self.results(node.parts)
        return _Truth(f"({_LOGIC[node.op].join(parts)})" if parts else str(node.op == "and").lower())

    def visit_Not(self, node):
        return _Truth(f"(!{(yield node.part)})")

    def visit_Vector(self, node):
        return tuple((yield from self.results(node.terms)))

    def visit_Item(self, node):
        vector = yield node.vector
        return f"{vector}[{node.index}]" if isinstance(vector, _Array) else vector[node.index]

    def visit_Affine(self, node):
        vector = self.as_array((yield node.vector))
        if isinstance(node.weights, str) or isinstance(node.bias, str):
            self.refuse(node, f"an array of unknown weights is no {self.WORLD}")
        made, place = _Array(self.fresh(), len(node.bias)), len(self.arrays) // 2 + 1
        weights, bias = (f"{self.name}_{kind}_{place}" for kind in ("weights", "bias"))
        columns = [number for column in zip(*node.weights, strict=True) for number in column]
        self.arrays += [_constants(weights, columns), _constants(bias, node.bias)]
        self.statements += [
            f"float {made}[{made.size}];",
            f"for (unsigned i = 0; i < {made.size}; i++)",
            f"    {made}[i] = {bias}[i];",
            f"for (unsigned j = 0; j < {len(node.weights[0])}; j++)  /* all outputs grow at once, as vectors do */",
            f"    for (unsigned i = 0; i < {made.size}; i++)",
            f"        {made}[i] += {weights}[j * {made.size} + i] * {vector}[j];",
        ]
        return made


def _is_vector(value):
    return isinstance(value, tuple | _Array)


def _text(value):
    return float_literal(value) if isinstance(value, Fraction) else value


def _constants(name, values):
    rows = [", ".join(map(float_literal, values[i : i + 8])) for i in range(0, len(values), 8)]
    return f"static const float {name}[{len(values)}] = {{\n    " + ",\n    ".join(rows) + "};\n"


#: The error of the result, as words for messages.
ERROR = "the roundings of single floats, a 2^24th each, and of `tanhf`"


def is_curved(tree):
    """Return whether a term has a nonlinear function outside of a law."""
    return bool(First(lambda node: isinstance(node, Function), (Bounded,)).walk(tree))


def curved(writer, tree):
    """Write a term in single floats, with the variables and functions of an Expression.

    The largest parts that contain neither a function nor a layer are computed exactly, in integers, and then rounded to
    floats. Therefore the difference of two large counts loses no precision. No condition may read a nonlinear function,
    because C code cannot decide it exactly.
    """
    name = f"{writer.prefix}_network_{len(writer.functions) + 1}"
    inputs = _Inputs(writer)
    function = float_function(name, inputs.walk(tree), list(inputs.words))
    writer.functions.append(f"{c_comment(f'Off by {ERROR}.')}\n{function}")
    written = ", ".join(inputs.words.values()) or "0.0f"
    writer.made += 1
    variable = f"x{writer.made}_network"
    writer.declarations += [
        f"const float {variable}_in[] = {{{written}}};",
        f"float {variable}[1];",
        f"{name}({variable}_in, {variable});",
    ]
    return f"{variable}[0]"


class _Inputs(Walker):
    """Replaces the largest parts that C code represents exactly by names; `words` has their C expressions as floats."""

    WORLD = "meaning in C"

    def __init__(self, writer):
        super().__init__(writer.file)
        self.writer, self.words = writer, {}
        self.is_inexact = First(self._is_inexact).walk

    def _is_inexact(self, node):
        """Return whether integers cannot express a node: a function, a layer, or an unknown divisor."""
        if isinstance(node, Binary) and node.op == "/":
            return self.writer.constant(node.right) is None
        return isinstance(node, Function | Affine | Vector)

    def is_exact(self, tree):
        """Return whether 64 bits hold a term exactly, and the term contains neither a function nor a layer."""
        return not self.is_inexact(tree) and self.writer.denominator_and_most(tree)[1] < MOST

    def visit_If(self, node):
        if self.is_exact(node):
            return self.input(self.number(node))
        if self.is_inexact(node.test):
            self.refuse(node, "compares a tanh or a layer, which C cannot decide exactly; expected linear terms")
        test = self.writer.condition(node.test)
        if isinstance(test, bool):
            return (yield node.then if test else node.other)
        then, other = (yield node.then), (yield node.other)
        return If(self.input(f"(float)({test})"), then, other)

    def visit_object(self, node):
        value = None if self.is_inexact(node) else self.writer.constant(node)
        if value is not None:
            return Number(value)
        if self.is_exact(node):
            return self.input(self.number(node))
        return rebuilt(node, (yield from self.results(parts(node))))

    visit_Local = visit_Function = visit_object

    def input(self, written):
        name = f"input {len(self.words)}"
        self.words[name] = written
        return Name(name)

    def number(self, node):
        common = self.writer.denominator(node)
        written = f"(float)({self.writer.term(node, common)})"
        return written if common == 1 else f"{written} / {common}.0f"
