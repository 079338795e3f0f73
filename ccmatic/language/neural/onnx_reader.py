"""A reader of networks in ONNX files. A file is data: the reader runs no code of the file.

The reader computes with exact fractions. All dimensions of a vector except one are 1, and a dimension without a number
counts as 1, because it stands for the number of observations.
"""

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ccmatic.base import InputError, counted, opened, shown, write_bytes
from ccmatic.language.neural.graph import (
    Bent,
    Extreme,
    Graph,
    Joined,
    Layer,
    Recurrent,
    Row,
    Rows,
    Scaled,
    Statement,
    Total,
)

if TYPE_CHECKING:
    import onnx

#: The form of metadata that are kept.
_PLAIN = re.compile(r"[\w .,;<>=/%-]{1,400}", re.ASCII)

Attributes: TypeAlias = "Mapping[str, onnx.AttributeProto]"

#: Limits on the size of a file in bytes, on the number of nodes in its graph, and on the numbers in a vector.
LARGEST, MOST_NODES, WIDEST = 2**22, 1000, 2**12

#: The first version of ONNX's operator set whose operators have the semantics used here.
OLDEST = 7


def read(path: str | Path, memory: bool = False) -> Graph:
    """Return the network of an ONNX file, which may have a unit with memory if `memory`."""
    model = load_model(path)
    import onnx

    try:
        graph = _Reader(model, str(path), memory).graph_of_model()
        onnx.checker.check_model(model)  # rejects attributes with a wrong type, which would otherwise count as 0
        return graph
    except onnx.checker.ValidationError as error:
        raise InputError(f"invalid ONNX: {shown(str(error))}", str(path)) from None
    except (ValueError, TypeError) as error:
        raise InputError(f"no ONNX file ({shown(error)}); expected a network", str(path)) from None


def load_model(path: str | Path) -> "onnx.ModelProto":
    """Return the model in an ONNX file, which `read` may refuse."""
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
        return onnx.load_model_from_string(content)
    except (google.protobuf.message.Error, ValueError, TypeError) as error:
        raise InputError(f"no ONNX file ({shown(error)}); expected a network", str(path)) from None


class _Vector(NamedTuple):
    """A value of the graph that depends on the inputs."""

    name: str
    shape: tuple[int, ...]


class Unfit(Exception):
    """Raised if a node of the graph does not fit its inputs."""


def annotate(path: str | Path, notes: Mapping[str, str], out: str | Path) -> None:
    """Write a copy of an ONNX file with further metadata, which replace those with the same key."""
    read(path)
    import onnx

    model = load_model(path)
    before = {each.key: each.value for each in model.metadata_props}
    onnx.helper.set_model_props(model, {**before, **notes})
    write_bytes(out, model.SerializeToString())


class _Reader:
    """The reader of one graph. `do_NAME` reads a node with the operator NAME."""

    def __init__(self, model: "onnx.ModelProto", file: str, memory: bool) -> None:
        self.model, self.file, self.memory = model, file, memory
        self.recurrent: dict[str, Recurrent] = {}
        self.arrays: dict[str, NDArray[Any]] = {}
        self.vectors: dict[str, _Vector] = {}
        self.statements: dict[str, Statement] = {}
        self.sizes: dict[str, int] = {}

    def fail(self, message: str) -> NoReturn:
        raise InputError(message, self.file)

    def graph_of_model(self) -> Graph:
        import onnx

        graph = self.model.graph
        versions = [each.version for each in self.model.opset_import if each.domain in ("", "ai.onnx")]
        if not versions or versions[0] < OLDEST:
            self.fail(f"operators of version {shown(versions)}; expected version {OLDEST} or later")
        if self.model.functions:
            self.fail(f"defines the operator {shown(self.model.functions[0].name)}; expected no operators of its own")
        if len(graph.node) > MOST_NODES:
            self.fail(f"{len(graph.node)} nodes; expected at most {MOST_NODES}")
        for tensor in graph.initializer:
            self.arrays[tensor.name] = self.array(tensor)
        for value in graph.input:
            if value.name not in self.arrays:
                if value.type.tensor_type.elem_type not in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
                    self.fail(f"the input '{shown(value.name)}' is neither float32 nor float64; expected one of these")
                shape = tuple(max(1, each.dim_value) for each in value.type.tensor_type.shape.dim)
                if prod(shape) > WIDEST:
                    self.fail(f"the input '{shown(value.name)}' has {prod(shape)} numbers; expected at most {WIDEST}")
                self.vectors[value.name] = _Vector(value.name, shape)
                self.sizes[value.name] = prod(shape)
        inputs = {name: vector.shape for name, vector in self.vectors.items()}
        for number, node in enumerate(graph.node, 1):
            self.node(number, node)
        outputs = {value.name: self.vectors[value.name].name for value in graph.output if value.name in self.vectors}
        if len(outputs) != len(graph.output) or not outputs:
            self.fail("an output is no value of the graph; expected outputs that depend on the inputs")
        return Graph(self.file, inputs, self.statements, outputs, self.sizes, self.notes(), self.recurrent)

    def notes(self) -> dict[str, str]:
        """Return the metadata that contain only words, numbers and comparisons, so that they can stand in any text."""
        pairs = {each.key: each.value for each in self.model.metadata_props}
        return {key: text for key, text in pairs.items() if _PLAIN.fullmatch(key) and _PLAIN.fullmatch(text)}

    def array(self, tensor: "onnx.TensorProto") -> NDArray[Any]:
        """Return the numbers of a tensor: doubles, which represent them exactly, or whole numbers."""
        from onnx import TensorProto, numpy_helper

        name = shown(tensor.name)
        if tensor.data_location == TensorProto.EXTERNAL or tensor.external_data:
            self.fail(f"the numbers of '{name}' are in another file; expected them in this one")
        if tensor.data_type == TensorProto.INT64:
            return np.asarray(numpy_helper.to_array(tensor), np.int64)
        if tensor.data_type not in (TensorProto.FLOAT, TensorProto.DOUBLE):
            self.fail(f"'{name}' is neither float32 nor float64; expected one of these")
        array = np.asarray(numpy_helper.to_array(tensor), np.float64)
        if not np.all(np.abs(array) <= np.finfo(np.float32).max):
            self.fail(f"'{name}' has a number that is not finite in 32 bits; expected smaller numbers")
        return array

    def node(self, number: int, node: "onnx.NodeProto") -> None:
        kind = node.op_type
        where = f"node {number} ({shown(kind)})"
        domains = ("ai.onnx.ml",) if kind == "Scaler" else ("", "ai.onnx")
        most = 2 if kind == "GRU" else 1
        if node.domain not in domains or not hasattr(self, f"do_{kind}") or not 1 <= len(node.output) <= most:
            self.fail(f"{where} is not supported; expected {', '.join(OPERATORS)}")
        for output in filter(None, node.output):
            if output in self.arrays or output in self.vectors:
                self.fail(f"{where} makes '{shown(output)}' again; expected each value once")
        attributes = {each.name: each for each in node.attribute}
        name = f"{kind.lower()}_{number}"
        while any(f"{other}_".startswith(f"{name}_") for other in self.sizes):  # an input may have such a name
            name += "_"
        try:
            result = getattr(self, f"do_{kind}")(name, attributes, *node.input)
        except KeyError as missing:
            self.fail(f"{where} reads '{shown(missing.args[0])}', which is not defined before it")
        except (Unfit, TypeError) as error:
            self.fail(f"{where}: {error if isinstance(error, Unfit) else 'other inputs than it takes'}")
        for output, value in zip(node.output, result if isinstance(result, list) else [result], strict=False):
            if isinstance(value, _Vector):
                self.vectors[output] = value
            else:
                self.arrays[output] = value

    def vector(self, name: str, shape: tuple[int, ...], statement: Statement) -> _Vector:
        if prod(shape) > WIDEST:
            raise Unfit(f"makes {prod(shape)} numbers; expected at most {WIDEST}")
        self.statements[name], self.sizes[name] = statement, prod(shape)
        return _Vector(name, shape)

    # Layers

    def do_Gemm(self, name: str, attributes: Attributes, x: str, weights: str, bias: str | None = None) -> _Vector:
        matrix = self.arrays[weights].T if not _whole(attributes, "transB") else self.arrays[weights]
        if _whole(attributes, "transA"):
            raise Unfit("transA is not 0")
        alpha, beta = (_number(attributes, word) for word in ("alpha", "beta"))
        return self.layer(name, matrix, alpha, self.vectors[x], self.arrays[bias] if bias else np.zeros(1), beta)

    def do_MatMul(self, name: str, attributes: Attributes, x: str, weights: str) -> _Vector:
        if x in self.arrays and weights in self.vectors:
            column = self.vectors[weights]
            size = prod(column.shape)
            if column.shape != (size,) and column.shape[-2:] != (size, 1):
                raise Unfit(f"a vector of the shape {column.shape}; expected a column")
            return self.layer(name, self.arrays[x], Fraction(1), column, np.zeros(1), Fraction(1), is_column=True)
        return self.layer(name, self.arrays[weights].T, Fraction(1), self.vectors[x], np.zeros(1), Fraction(1))

    def layer(
        self,
        name: str,
        matrix: NDArray[Any],
        alpha: Fraction,
        x: _Vector,
        bias: NDArray[Any],
        beta: Fraction,
        is_column: bool = False,
    ) -> _Vector:
        """Add the statement `alpha` times rows of weights times a vector, plus `beta` times biases."""
        size = prod(x.shape)
        along = size if is_column else (x.shape or (0,))[-1]
        if matrix.ndim != 2 or not matrix.size or matrix.shape[1] != size or along != size:
            raise Unfit(
                f"weights of the shape {matrix.T.shape} for {counted(size, 'number')}; expected one row for each"
            )
        shape = (*x.shape[:-1], len(matrix))
        if is_column:
            shape = (*x.shape[:-2], len(matrix), 1) if len(x.shape) > 1 else (len(matrix),)
        weights = tuple(tuple(alpha * number for number in map(_exact, row)) for row in matrix)
        offsets = tuple(beta * number for number in _spread(bias, shape))
        return self.vector(name, shape, Layer(x.name, weights, offsets))

    def do_GRU(
        self,
        name: str,
        attributes: Attributes,
        x: str,
        weights: str,
        recurrent: str,
        bias: str = "",
        lengths: str = "",
        first: str = "",
    ) -> list[_Vector]:
        if not self.memory:
            problem = "multiplies values that depend on the inputs, and has a memory"
            raise Unfit(f"{problem}; expected a network without it, or a flow policy:FILE: a policy may have one")
        if self.recurrent or lengths or first not in self.vectors or _whole(attributes, "linear_before_reset") != 1:
            raise Unfit("expected one GRU with an input of its memory, and linear_before_reset = 1")
        if further := attributes.keys() - {"hidden_size", "linear_before_reset"}:
            raise Unfit(f"has the attribute '{shown(min(further))}'; expected the defaults of ONNX")
        seen, memory = self.vectors[x], self.vectors[first]
        inputs, units = (each.shape[-1] if each.shape else 0 for each in (seen, memory))
        arrays = self.arrays[weights], self.arrays[recurrent], self.arrays[bias] if bias else np.zeros((1, 6 * units))
        shapes = [each.shape for each in (seen, memory, *arrays)]
        if shapes != [(1, 1, inputs), (1, 1, units), (1, 3 * units, inputs), (1, 3 * units, units), (1, 6 * units)]:
            raise Unfit(
                f"the shapes {shapes}; expected one observation, a memory, and weights and biases that fit them"
            )
        (z, r, h), (z_m, r_m, h_m), biases = (np.split(part[0], n) for part, n in zip(arrays, (3, 3, 6), strict=True))
        update, reset = (_affine(np.hstack(pair), *biases[place::3]) for place, pair in enumerate([(z, z_m), (r, r_m)]))
        own = _affine(h, biases[2]), _affine(h_m, biases[5])
        self.recurrent[name], self.sizes[name] = Recurrent(seen.name, memory.name, update, reset, *own), units
        return [_Vector(name, (1, 1, 1, units)), _Vector(name, (1, 1, units))]

    # Sums, products and quotients

    def do_Add(self, name: str, attributes: Attributes, left: str, right: str) -> _Vector:
        if left in self.arrays:
            left, right = right, left
        x = self.vectors[left]
        if right in self.arrays:
            return self.shifted(name, x, self.arrays[right])
        return self.total(name, x, self.vectors[right])

    def do_Sub(self, name: str, attributes: Attributes, left: str, right: str) -> _Vector:
        if left in self.arrays:
            return self.shifted(name, self.do_Neg(f"{name}_negated", attributes, right), self.arrays[left])
        x = self.vectors[left]
        if right in self.arrays:
            return self.shifted(name, x, -self.arrays[right])
        return self.total(name, x, self.do_Neg(f"{name}_negated", attributes, right))

    def do_Neg(self, name: str, attributes: Attributes, x: str) -> _Vector:
        return self.scaled(name, self.vectors[x], Fraction(-1))

    def do_Mul(self, name: str, attributes: Attributes, left: str, right: str) -> _Vector:
        if left in self.arrays:
            left, right = right, left
        if right not in self.arrays and right in self.vectors:
            raise Unfit("multiplies two values that depend on the inputs; expected a constant factor")
        x = self.vectors[left]
        return self.scaled(name, x, _spread(self.arrays[right], x.shape))

    def do_Div(self, name: str, attributes: Attributes, left: str, right: str) -> _Vector:
        if right not in self.arrays and right in self.vectors:
            raise Unfit("divides by a value that depends on the inputs; expected a constant divisor")
        x = self.vectors[left]
        divisors = _spread(self.arrays[right], x.shape)
        if not all(divisors):
            raise Unfit("divides by 0")
        return self.scaled(name, x, tuple(1 / divisor for divisor in divisors))

    def shifted(self, name: str, x: _Vector, array: NDArray[Any]) -> _Vector:
        return self.scaled(name, x, Fraction(1), _spread(array, x.shape))

    def scaled(self, name: str, x: _Vector, factors: Row | Fraction, offsets: Row | Fraction = Fraction(0)) -> _Vector:
        """Add the statement for a vector times factors plus offsets; a single number stands for all of them."""
        several = ((each,) * prod(x.shape) if isinstance(each, Fraction) else each for each in (factors, offsets))
        return self.vector(name, x.shape, Scaled(x.name, *several))

    def do_Scaler(self, name: str, attributes: Attributes, x: str) -> _Vector:
        vector = self.vectors[x]
        arrays = [np.array(attributes[word].floats, np.float64) for word in ("offset", "scale")]
        if not all(np.isfinite(array).all() for array in arrays):
            raise Unfit("a number is not finite")
        offsets, factors = (_spread(array, vector.shape) for array in arrays)
        moved = tuple(-offset * factor for offset, factor in zip(offsets, factors, strict=True))
        return self.scaled(name, vector, factors, moved)

    def total(self, name: str, x: _Vector, y: _Vector) -> _Vector:
        self.alike(x, y)
        return self.vector(name, x.shape, Total(x.name, y.name))

    def alike(self, x: _Vector, y: _Vector) -> None:
        if prod(x.shape) != prod(y.shape):
            raise Unfit(f"{prod(x.shape)} and {prod(y.shape)} numbers; expected as many")
        if np.broadcast_shapes(x.shape, y.shape) != x.shape:
            raise Unfit(f"values of the shapes {x.shape} and {y.shape}; expected the same shape")

    # Functions of each number

    def do_Relu(self, name: str, attributes: Attributes, x: str) -> _Vector:
        return self.bent(name, Bent("relu", self.vectors[x].name), x)

    def do_Tanh(self, name: str, attributes: Attributes, x: str) -> _Vector:
        return self.bent(name, Bent("tanh", self.vectors[x].name), x)

    def do_Sigmoid(self, name: str, attributes: Attributes, x: str) -> _Vector:
        # The function is (1 + tanh(x/2)) / 2.
        half = self.scaled(f"{name}_half", self.vectors[x], Fraction(1, 2))
        curve = self.vector(f"{name}_tanh", half.shape, Bent("tanh", half.name))
        return self.scaled(name, curve, Fraction(1, 2), Fraction(1, 2))

    def do_Abs(self, name: str, attributes: Attributes, x: str) -> _Vector:
        return self.bent(name, Bent("abs", self.vectors[x].name), x)

    def do_LeakyRelu(self, name: str, attributes: Attributes, x: str) -> _Vector:
        slope = _number(attributes, "alpha", 0.01)
        if slope > 1:
            raise Unfit("alpha is above 1; expected at most 1")
        return self.bent(name, Bent("leaky", self.vectors[x].name, slope=slope), x)

    def do_Clip(
        self, name: str, attributes: Attributes, x: str, low: str | None = None, high: str | None = None
    ) -> _Vector:
        ends = {"min": low, "max": high}
        numbers = {end: _exact(self.arrays[value].reshape(())) for end, value in ends.items() if value}
        numbers |= {end: _number(attributes, end) for end in ends if end in attributes}
        if numbers.keys() == ends.keys() and numbers["min"] > numbers["max"]:
            raise Unfit("the lower limit is above the upper one")
        return self.bent(name, Bent("clip", self.vectors[x].name, low=numbers.get("min"), high=numbers.get("max")), x)

    def bent(self, name: str, statement: Bent, x: str) -> _Vector:
        return self.vector(name, self.vectors[x].shape, statement)

    def do_Max(self, name: str, attributes: Attributes, *several: str) -> _Vector:
        return self.extreme(name, "max", several)

    def do_Min(self, name: str, attributes: Attributes, *several: str) -> _Vector:
        return self.extreme(name, "min", several)

    def extreme(self, name: str, pick: Any, several: tuple[str, ...]) -> _Vector:
        vectors = [self.vectors[each] for each in several if each in self.vectors]
        if not vectors:
            raise Unfit("reads no value that depends on the inputs")
        first = vectors[0]
        for number, each in enumerate(several):
            if each in self.arrays:
                offsets = _spread(self.arrays[each], first.shape)
                vectors.append(self.scaled(f"{name}_constant_{number}", first, Fraction(0), offsets))
            elif each not in self.vectors:
                raise KeyError(each)
        for each_vector in vectors:
            self.alike(first, each_vector)
        return self.vector(name, first.shape, Extreme(pick, tuple(each.name for each in vectors)))

    # Shapes and constants

    def do_Concat(self, name: str, attributes: Attributes, *several: str) -> _Vector:
        vectors = [self.vectors[each] for each in several]
        rank, axis = min((len(each.shape) for each in vectors), default=0), _whole(attributes, "axis")
        uneven = any(len(each.shape) != rank or prod(each.shape[:-1]) != 1 for each in vectors)
        if not rank or uneven or axis not in (rank - 1, -1):
            raise Unfit("the axis is not the last")
        shape = (*vectors[0].shape[:-1], sum(each.shape[-1] for each in vectors))
        return self.vector(name, shape, Joined(tuple(each.name for each in vectors)))

    def do_Identity(self, name: str, attributes: Attributes, x: str) -> _Vector | NDArray[Any]:
        return self.arrays[x] if x in self.arrays else self.vectors[x]

    def do_Cast(self, name: str, attributes: Attributes, x: str) -> _Vector | NDArray[Any]:
        from onnx import TensorProto

        kinds: dict[int, Any] = {TensorProto.FLOAT: np.float32, TensorProto.DOUBLE: np.float64}
        kind = kinds.get(_whole(attributes, "to"))
        if kind is None:
            raise Unfit("makes numbers that are neither float32 nor float64")
        return self.arrays[x].astype(kind).astype(np.float64) if x in self.arrays else self.vectors[x]

    def do_Flatten(self, name: str, attributes: Attributes, x: str) -> _Vector:
        vector, axis = self.vectors[x], _whole(attributes, "axis", 1)
        before, after = prod(vector.shape[:axis]), prod(vector.shape[axis:])
        if before != 1:
            raise Unfit("makes several rows; expected one")
        return vector._replace(shape=(1, after))

    def do_Reshape(self, name: str, attributes: Attributes, x: str, shape: str) -> _Vector | NDArray[Any]:
        wanted = [int(number) for number in self.arrays[shape].ravel()]
        if x in self.arrays:
            return self.arrays[x].reshape(wanted)
        vector = self.vectors[x]
        wanted = [old if new == 0 else new for new, old in zip(wanted, (*vector.shape, *wanted), strict=False)]
        return vector._replace(shape=np.empty(vector.shape, bool).reshape(wanted).shape)

    def do_Squeeze(self, name: str, attributes: Attributes, x: str, axes: str = "") -> _Vector:
        return self.with_axes(np.squeeze, attributes, x, axes)

    def do_Unsqueeze(self, name: str, attributes: Attributes, x: str, axes: str = "") -> _Vector:
        return self.with_axes(np.expand_dims, attributes, x, axes)

    def with_axes(self, change: Callable[..., NDArray[Any]], attributes: Attributes, x: str, axes: str) -> _Vector:
        """Return a vector with more or fewer axes of the size 1. Newer versions have the axes as an input."""
        places = self.arrays[axes].ravel() if axes else attributes["axes"].ints
        vector = self.vectors[x]
        try:
            return vector._replace(shape=change(np.empty(vector.shape, bool), tuple(map(int, places))).shape)
        except (ValueError, OverflowError) as error:
            raise Unfit(shown(str(error))) from None

    def do_Constant(self, name: str, attributes: Attributes) -> NDArray[Any]:
        if list(attributes) != ["value"]:
            raise Unfit("no `value`; expected a tensor")
        return self.array(attributes["value"].t)


#: The names of the operators that the reader supports.
OPERATORS = tuple(name.removeprefix("do_") for name in vars(_Reader) if name.startswith("do_"))


def _affine(matrix: NDArray[Any], *biases: NDArray[Any]) -> tuple[Rows, Row]:
    """Return weights with a row per output, and the sums of biases."""
    sums = (sum(map(_exact, several), Fraction(0)) for several in zip(*biases, strict=True))
    return tuple(tuple(map(_exact, row)) for row in matrix), tuple(sums)


def _exact(number: Any) -> Fraction:
    if number.dtype.kind == "i":  # ONNX's quotients of whole numbers, for example, are whole
        raise Unfit("computes with whole numbers; expected float32 or float64")
    return Fraction(float(number))


def _whole(attributes: Attributes, name: str, default: int = 0) -> int:
    return attributes[name].i if name in attributes else default


def _number(attributes: Attributes, name: str, default: float = 1.0) -> Fraction:
    number = attributes[name].f if name in attributes else float(np.float32(default))
    if not np.isfinite(number):
        raise Unfit(f"{name} is not finite")
    return Fraction(number)


def _spread(array: NDArray[Any], shape: tuple[int, ...]) -> Row:
    """Broadcast an array to a shape by the rules of ONNX, and return the exact numbers of the result in one row."""
    size = prod(shape)
    try:
        spread = np.broadcast_to(array, shape) if array.size > 1 else np.full(shape, array.reshape(()))
    except ValueError:
        message = f"a bias of the shape {array.shape} for values of the shape {shape}; expected one number, or {size}"
        raise Unfit(message) from None
    return tuple(map(_exact, spread.ravel()))
