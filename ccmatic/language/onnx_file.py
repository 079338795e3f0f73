"""A converter from a network in an ONNX file to a program of the language.

Readers treat this program like other programs. A network computes with rates in packets per R_m, so its biases are
multiples of u = MSS/R_m. All its operations commute with a change of unit: max(0, w·x/u + b)·u = max(0, w·x + b·u)
where u > 0. The program therefore never divides by MSS, and is linear in a solver's unknowns. The operator Tanh is an
exception: it becomes `tanh(y, u)` = u·tanh(y/u).
"""

import ast
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ccmatic.base import InputError, opened, shown

if TYPE_CHECKING:
    import onnx

Array: TypeAlias = NDArray[np.float64]
Attributes: TypeAlias = "Mapping[str, onnx.AttributeProto]"

#: Limits on the size of a file in bytes, and on the number of nodes in its graph.
LARGEST, MOST_NODES = 2**22, 1000

#: The first version of ONNX's operator set whose operators have the semantics used here.
OLDEST = 7

#: For each possible name of the output: the parts of the program that send according to this output.
_DECIDES = {
    "rate": ("def rate({}):", "    return {}[0]", ()),
    "window": (
        "def update({}):",
        "    window = max(MSS, {}[0] * R_m)",
        ("", "", "def send(window):", "    return window"),
    ),
}

_ABOUT = '"""A network, read from an ONNX file: it computes in packets per R_m."""'


def program(path: Path) -> str:
    """Return the network of an ONNX file as the text of a controller.

    Each input has the shape (n, k). Its name lists k terms of rates, such as "C_L, q_U / R_m". The output has the shape
    (n, 1) and the name `rate` or `window`. An output with the name `window` is also a rate. R_m times this rate is the
    window, which is at least one packet.

    Args:
        path: The file.

    Raises:
        InputError: If the package onnx is not installed, the file contains no such network, or the network uses
            unsupported operators.
    """
    try:
        import google.protobuf.message
        import onnx
    except ImportError:
        raise InputError("onnx is not installed; pip install 'ccmatic[rl]'", str(path)) from None
    with opened(path) as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise InputError(f"more than {LARGEST // 2**20} MiB; expected a smaller network", str(path))
    try:
        model = onnx.load_model_from_string(content)
        text = _Program(model, str(path)).text()
        onnx.checker.check_model(model)  # rejects attributes with a wrong type, which would otherwise count as 0
        return text
    except onnx.checker.ValidationError as error:
        raise InputError(f"invalid ONNX: {shown(str(error))}", str(path)) from None
    except (google.protobuf.message.Error, ValueError, TypeError) as error:
        raise InputError(f"no ONNX file ({shown(error)}); expected a network", str(path)) from None


class _List(NamedTuple):
    """A value of the graph as text in the program: the text of a list, and the text of each of its terms."""

    text: str
    terms: tuple[str, ...]

    @staticmethod
    def of(terms: Iterable[str]) -> "_List":
        terms = tuple(terms)
        return _List(f"[{', '.join(terms)}]", terms)


class _Program:
    """The program for one graph: `constants` stand above its function, and `statements` inside it."""

    def __init__(self, model: "onnx.ModelProto", file: str) -> None:
        self.model, self.graph, self.file = model, model.graph, file
        self.constants: list[str] = []
        self.statements: list[str] = []
        self.reads = {"MSS", "R_m"}
        self.arrays: dict[str, Array] = {}
        self.lists: dict[str, _List] = {}

    def fail(self, message: str) -> NoReturn:
        raise InputError(message, self.file)

    def text(self) -> str:
        """Return the text of the whole program."""
        versions = [dimension.version for dimension in self.model.opset_import if dimension.domain in ("", "ai.onnx")]
        if not versions or versions[0] < OLDEST:
            self.fail(f"operators of version {shown(versions)}; expected version {OLDEST} or later")
        if self.model.functions:
            self.fail(f"defines the operator {shown(self.model.functions[0].name)}; expected no operators of its own")
        if len(self.graph.node) > MOST_NODES:
            self.fail(f"{len(self.graph.node)} nodes; expected at most {MOST_NODES}")
        for tensor in self.graph.initializer:
            self.arrays[tensor.name] = self.array(tensor)
        for value in self.graph.input:
            if value.name not in self.arrays:
                self.lists[value.name] = self.input(value)
        for number, node in enumerate(self.graph.node, 1):
            self.node(number, node)
        names = [value.name for value in self.graph.output]
        if len(names) != 1 or names[0] not in _DECIDES or names[0] not in self.lists:
            self.fail(f"the outputs are {shown(names)}; expected one, named rate or window")
        output = self.lists[names[0]]
        if len(output.terms) != 1:
            self.fail(f"the output has {len(output.terms)} numbers; expected one")
        head, end, more = _DECIDES[names[0]]
        state = ["", "window: bytes = above(0)"] if names[0] == "window" else []
        signature = head.format(", ".join(sorted(self.reads)))
        unit = "    unit = MSS / R_m"
        lines = [_ABOUT, "", *self.constants, *state, "", "", signature, unit, *self.statements]
        return "\n".join([*lines, end.format(output.text), *more, ""])

    def input(self, value: "onnx.ValueInfoProto") -> _List:
        """Return the list of terms that the name of an input contains."""
        try:
            syntax = ast.parse(value.name, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.fail(f"an input is named '{shown(value.name)}'; expected terms of rates, such as C_L, q_U / R_m")
        terms = syntax.elts if isinstance(syntax, ast.Tuple) else [syntax]
        dimensions = value.type.tensor_type.shape.dim
        if len(dimensions) != 2 or dimensions[1].dim_value != len(terms):
            shape = [dimension.dim_value or dimension.dim_param for dimension in dimensions]
            problem = f"the input '{shown(value.name)}' has the shape {shown(shape)}"
            self.fail(
                f"{problem}; expected two dimensions, the second {len(terms)}, because the name has that many terms"
            )
        called = {id(node.func) for node in ast.walk(syntax) if isinstance(node, ast.Call)}
        self.reads |= {node.id for node in ast.walk(syntax) if isinstance(node, ast.Name) and id(node) not in called}
        return _List.of(map(ast.unparse, terms))

    def array(self, tensor: "onnx.TensorProto") -> Array:
        """Return the numbers of a tensor; doubles represent them exactly."""
        from onnx import TensorProto, numpy_helper

        name = shown(tensor.name)
        if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
            self.fail(f"the numbers of '{name}' are in another file; expected them in this one")
        if tensor.data_type != TensorProto.FLOAT:
            self.fail(f"'{name}' is not float32; expected float32, whose products are exact in doubles")
        array = np.asarray(numpy_helper.to_array(tensor), np.float64)
        if not np.isfinite(array).all():
            self.fail(f"'{name}' has a number that is not finite")
        return array

    def node(self, number: int, node: "onnx.NodeProto") -> None:
        """Add the statement for one node of the graph."""
        kind = node.op_type
        where = f"node {number} ({shown(kind)})"
        if node.domain not in ("", "ai.onnx") or not hasattr(self, f"do_{kind}") or len(node.output) != 1:
            self.fail(f"{where} is not supported; expected {', '.join(_KNOWN)}")
        [output] = node.output
        if output in self.arrays or output in self.lists:
            self.fail(f"{where} makes '{shown(output)}' again; expected each value once")
        attributes = {dimension.name: dimension for dimension in node.attribute}
        try:
            result = getattr(self, f"do_{kind}")(f"{kind.lower()}_{number}", attributes, *node.input)
        except KeyError as missing:
            self.fail(f"{where} reads '{shown(missing.args[0])}', which is not defined before it")
        except (_Unfit, TypeError) as error:
            self.fail(f"{where}: {error if isinstance(error, _Unfit) else 'other inputs than it takes'}")
        if isinstance(result, _List):
            self.lists[output] = result
        else:
            self.arrays[output] = result

    def do_Gemm(self, name: str, attributes: Attributes, x: str, weights: str, bias: str | None = None) -> _List:
        matrix = self.arrays[weights].T if not _whole(attributes, "transB") else self.arrays[weights]
        if _whole(attributes, "transA"):
            raise _Unfit("transA is not 0")
        matrix = matrix * _number(attributes, "alpha", 1.0)
        added = self.arrays[bias] * _number(attributes, "beta", 1.0) if bias else 0.0
        return self.affine(name, matrix, self.lists[x], added)

    def do_MatMul(self, name: str, attributes: Attributes, x: str, weights: str) -> _List:
        return self.affine(name, self.arrays[weights].T, self.lists[x], 0.0)

    def affine(self, name: str, matrix: Array, x: _List, bias: Array | float) -> _List:
        """Add a statement for a layer: rows of weights times a list, plus biases."""
        if matrix.ndim != 2 or not matrix.size or matrix.shape[1] != len(x.terms):
            raise _Unfit(f"weights of the shape {matrix.T.shape} for {len(x.terms)} numbers; expected one row for each")
        rows = len(matrix)
        self.constants += [f"weights_{name} = [", *(f"    {_list_text(row)}," for row in matrix), "]"]
        layer = f"affine(weights_{name}, {x.text}, [0 for row in weights_{name}])"
        return self.add_bias(name, layer, rows, bias)

    def add_bias(self, name: str, text: str, count: int, bias: Array | float) -> _List:
        """Add a statement for a list of `count` terms plus their biases."""
        biases = _row(bias, count)
        if any(biases):
            self.constants.append(f"bias_{name} = {_list_text(biases)}")
            text = f"[y + b * unit for y, b in zip({text}, bias_{name})]"
        return self.assign(name, text, count)

    def do_Add(self, name: str, attributes: Attributes, left: str, right: str) -> _List:
        if left in self.arrays:
            left, right = right, left
        x = self.lists[left]
        if right in self.arrays:
            return self.add_bias(name, x.text, len(x.terms), self.arrays[right])
        y = self.lists[right]
        if len(x.terms) != len(y.terms):
            raise _Unfit(f"{len(x.terms)} and {len(y.terms)} numbers; expected as many")
        return self.assign(name, f"[y + z for y, z in zip({x.text}, {y.text})]", len(x.terms))

    def do_Relu(self, name: str, attributes: Attributes, x: str) -> _List:
        return self.map_terms(name, "max(0, y)", x)

    def do_Tanh(self, name: str, attributes: Attributes, x: str) -> _List:
        return self.map_terms(name, "tanh(y, unit)", x)

    def do_Clip(
        self, name: str, attributes: Attributes, x: str, low: str | None = None, high: str | None = None
    ) -> _List:
        ends = {"min": low, "max": high}
        numbers = {end: float(self.arrays[value].reshape(())) for end, value in ends.items() if value}
        numbers |= {end: attributes[end].f for end in ends if end in attributes}
        text = "y"
        for end, pick in (("min", "max"), ("max", "min")):
            if end in numbers:
                text = f"{pick}({text}, {_exact(numbers[end])} * unit)"
        return self.map_terms(name, text, x)

    def do_Concat(self, name: str, attributes: Attributes, *several: str) -> _List:
        if _whole(attributes, "axis") not in (1, -1):
            raise _Unfit("the axis is not the last")
        terms = [term for dimension in several for term in self.lists[dimension].terms]
        return self.assign(name, f"[{', '.join(terms)}]", len(terms))

    def do_Identity(self, name: str, attributes: Attributes, x: str) -> _List | Array:
        return self.arrays[x] if x in self.arrays else self.lists[x]

    def do_Flatten(self, name: str, attributes: Attributes, x: str) -> _List:
        if _whole(attributes, "axis", 1) != 1:
            raise _Unfit("the axis is not 1")
        return self.lists[x]

    def do_Constant(self, name: str, attributes: Attributes) -> Array:
        if list(attributes) != ["value"]:
            raise _Unfit("no `value`; expected a tensor")
        return self.array(attributes["value"].t)

    def map_terms(self, name: str, text: str, x: str) -> _List:
        """Add a statement for a list that applies an expression to each term y of another list."""
        terms = self.lists[x]
        return self.assign(name, f"[{text} for y in {terms.text}]", len(terms.terms))

    def assign(self, name: str, text: str, count: int) -> _List:
        self.statements.append(f"    {name} = {text}")
        return _List(name, tuple(f"{name}[{index}]" for index in range(count)))


class _Unfit(Exception):
    """The error that a node of the graph does not fit its inputs."""


_KNOWN = tuple(name.removeprefix("do_") for name in vars(_Program) if name.startswith("do_"))


def _whole(attributes: Attributes, name: str, default: int = 0) -> int:
    return attributes[name].i if name in attributes else default


def _number(attributes: Attributes, name: str, default: float) -> float:
    return attributes[name].f if name in attributes else default


def _row(bias: Array | float, count: int) -> list[float]:
    """Return a bias as a list of `count` numbers."""
    bias = np.asarray(bias)
    if bias.size == 1:
        return [float(bias.reshape(()))] * count
    if bias.shape not in ((count,), (1, count)):
        raise _Unfit(f"a bias of the shape {bias.shape}; expected one number, or {count}")
    return [float(number) for number in bias.ravel()]


def _exact(number: float) -> str:
    """Return a float as text with all its digits."""
    return str(Decimal(float(number)))


def _list_text(numbers: Iterable[float]) -> str:
    return f"[{', '.join(map(_exact, numbers))}]"
