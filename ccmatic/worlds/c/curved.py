"""Terms with a nonlinear function, such as tanh, as C code that computes in single floats from exact inputs."""

from ccmatic.base import c_comment
from ccmatic.language import Affine, Function, If, Name, Number, Vector, Walker, parts, rebuilt
from ccmatic.worlds.c.expression import MOST
from ccmatic.worlds.c.floats import float_function

#: The error of the result, as words for messages.
ERROR = "the roundings of single floats, a 2^24th each, and of `tanhf`"


def is_curved(tree):
    """Return whether a term has a nonlinear function outside of a law."""
    return _IsCurved().walk(tree)


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
        self.is_inexact = _IsInexact(writer).walk

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


class _IsInexact(Walker):
    def __init__(self, writer):
        super().__init__()
        self.writer = writer

    def visit_Binary(self, node):
        if node.op == "/" and self.writer.constant(node.right) is None:
            return True
        return (yield node.left) or (yield node.right)

    def visit_object(self, node):
        if isinstance(node, Function | Affine | Vector):
            return True
        for part in parts(node):
            if (yield part):
                return True
        return False

    visit_Function = visit_Local = visit_object


class _IsCurved(Walker):
    def visit_Bounded(self, node):
        return False

    def visit_object(self, node):
        if isinstance(node, Function):
            return True
        for part in parts(node):
            if (yield part):
                return True
        return False

    visit_Function = visit_Local = visit_object
