"""A converter from a network in an ONNX file to a program of the language.

Readers treat this program like other programs. A network computes with rates in packets per R_m, so its biases are
multiples of u = MSS/R_m. All its operations commute with a change of unit: max(0, w·x/u + b)·u = max(0, w·x + b·u)
where u > 0. The program therefore never divides by MSS, and is linear in a solver's unknowns. The operator Tanh is an
exception: it becomes `tanh(y, u)` = u·tanh(y/u).
"""

import ast
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple, NoReturn

from ccmatic.base import InputError, shown, syntax_tree
from ccmatic.language import neural as networks
from ccmatic.language.neural import CLAIMS, PROOFS, Bent, Extreme, Joined, Layer, Row, Scaled, Total

#: For each possible name of the output: the parts of the program that send according to this output.
_DECIDES = {
    "rate": ("def rate({}):", "    return {}[0]", ()),
    "window": (
        "def update({}):",
        "    window = max(MSS, {}[0] * R_m)",
        ("", "", "def send(window):", "    return window"),
    ),
}

_ABOUT = "A network, read from an ONNX file: it computes in packets per R_m."


def program(path: Path) -> str:
    """Return the network of an ONNX file as the text of a controller.

    Each input has the shape (n, k). Its name lists k terms of rates, such as "C_L, q_U / R_m". The output has the shape
    (n, 1) and the name `rate` or `window`. An output with the name `window` is also a rate. R_m times this rate is the
    window, which is at least one packet.
    """
    return _Program(networks.read(path)).text()


class _List(NamedTuple):
    """A value of the graph as text in the program: the text of a list, and the text of each of its terms."""

    text: str
    terms: tuple[str, ...]

    @staticmethod
    def of(terms: Iterable[str]) -> "_List":
        terms = tuple(terms)
        return _List(f"[{', '.join(terms)}]", terms)


class _Program:
    """The program for one graph: `constants` stand above its function, and `lines` inside it."""

    def __init__(self, graph: networks.Graph) -> None:
        self.graph = graph
        self.constants: list[str] = []
        self.lines: list[str] = []
        self.reads = {"MSS", "R_m"}
        self.lists: dict[str, _List] = {}

    def fail(self, message: str) -> NoReturn:
        raise InputError(message, self.graph.file)

    def text(self) -> str:
        for name, shape in self.graph.inputs.items():
            self.lists[name] = self.input(name, shape)
        for name, statement in self.graph.statements.items():
            self.lists[name] = self.statement(name, statement)
        names = list(self.graph.outputs)
        if len(names) != 1 or names[0] not in _DECIDES:
            self.fail(f"the outputs are {shown(names)}; expected one, named rate or window")
        output = self.lists[self.graph.outputs[names[0]]]
        if len(output.terms) != 1:
            self.fail(f"the output has {len(output.terms)} numbers; expected one")
        head, end, more = _DECIDES[names[0]]
        state = ["", "window: bytes = above(0)"] if names[0] == "window" else []
        signature = head.format(", ".join(sorted(self.reads)))
        unit = "    unit = MSS / R_m"
        lines = [*self.about(), "", *self.constants, *state, "", "", signature, unit, *self.lines]
        return "\n".join([*lines, end.format(output.text), *more, ""])

    def about(self) -> list[str]:
        """Return the lines of the docstring. They name the proof in the file's metadata, which nobody has checked."""
        notes = self.graph.notes
        if not {CLAIMS, PROOFS} <= notes.keys():
            return [f'"""{_ABOUT}"""']
        proofs = [f"    {digest}" for digest in notes[PROOFS].split()]
        return [f'"""{_ABOUT}', "", f"The file claims a proof: {notes[CLAIMS]}.", "Its SHA-256:", "", *proofs, '"""']

    def input(self, name: str, shape: tuple[int, ...]) -> _List:
        try:
            syntax = syntax_tree(name, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.fail(f"an input is named '{shown(name)}'; expected terms of rates, such as C_L, q_U / R_m")
        terms = syntax.elts if isinstance(syntax, ast.Tuple) else [syntax]
        if len(shape) != 2 or shape[1] != len(terms):
            problem = f"the input '{shown(name)}' has the shape {shown(list(shape))}"
            expected = f"expected two dimensions, the second {len(terms)}, because the name has that many terms"
            self.fail(f"{problem}; {expected}, or the metadata of a policy")
        called = {id(node.func) for node in ast.walk(syntax) if isinstance(node, ast.Call)}
        self.reads |= {node.id for node in ast.walk(syntax) if isinstance(node, ast.Name) and id(node) not in called}
        return _List.of(map(ast.unparse, terms))

    def statement(self, name: str, statement: networks.Statement) -> _List:
        match statement:
            case Layer(source, weights, bias):
                self.constants += [f"weights_{name} = [", *(f"    {_list_text(row)}," for row in weights), "]"]
                zeros = f"[0 for row in weights_{name}]"
                return self.add_bias(name, f"affine(weights_{name}, {self.lists[source].text}, {zeros})", bias)
            case Scaled(source, factors, offsets):
                return self.scaled(name, self.lists[source].text, factors, offsets)
            case Total(left, right):
                pairs = f"zip({self.lists[left].text}, {self.lists[right].text})"
                return self.assign(name, f"[y + z for y, z in {pairs}]")
            case Extreme(pick, sources):
                items = [f"y{number}" for number in range(len(sources))]
                lists = ", ".join(self.lists[source].text for source in sources)
                return self.assign(name, f"[{pick}({', '.join(items)}) for {', '.join(items)} in zip({lists})]")
            case Joined(sources):
                return self.assign(name, f"[{', '.join(term for each in sources for term in self.lists[each].terms)}]")
            case Bent(_, source):
                return self.assign(name, f"[{_bent_text(statement)} for y in {self.lists[source].text}]")

    def scaled(self, name: str, text: str, factors: Row, offsets: Row) -> _List:
        if any(factor != 1 for factor in factors):
            self.constants.append(f"factor_{name} = {_list_text(factors)}")
            text = f"[y * factor for y, factor in zip({text}, factor_{name})]"
        return self.add_bias(name, text, offsets)

    def add_bias(self, name: str, text: str, bias: Row) -> _List:
        if any(bias):
            self.constants.append(f"bias_{name} = {_list_text(bias)}")
            text = f"[y + b * unit for y, b in zip({text}, bias_{name})]"
        return self.assign(name, text)

    def assign(self, name: str, text: str) -> _List:
        self.lines.append(f"    {name} = {text}")
        return _List(name, tuple(f"{name}[{index}]" for index in range(self.graph.sizes[name])))


def _bent_text(bent: Bent) -> str:
    match bent.kind:
        case "relu":
            return "max(0, y)"
        case "tanh":
            return "tanh(y, unit)"
        case "abs":
            return "max(y, -y)"
        case "leaky":
            return f"max(y, {_exact(bent.slope)} * y)"
    text = "y"
    for pick, limit in (("max", bent.low), ("min", bent.high)):
        if limit is not None:
            text = f"{pick}({text}, {_exact(limit)} * unit)"
    return text


def _exact(number: Fraction) -> str:
    """Return a number as text with all its digits, or as a quotient if no float has its value."""
    if Fraction(float(number)) == number:
        return str(Decimal(float(number)))
    return f"{number.numerator} / {number.denominator}"


def _list_text(numbers: Iterable[Fraction]) -> str:
    return f"[{', '.join(map(_exact, numbers))}]"
