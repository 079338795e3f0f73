"""The walk over trees that every pass uses. The walk memoises results, and does not depend on Python's recursion limit.

Trees share parts (`tree.Local`), so a pass that visited every path to a part would take exponential time. A walker
visits each node once per context, and has its own stack. The methods of a pass are generators, which yield the parts
whose results they need. So the code of a pass reads like a recursion, and a pass may skip parts.
"""

from collections.abc import Callable, Generator, Iterable
from functools import cache
from itertools import repeat
from types import GeneratorType
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

from ccmatic.base import InputError

T = TypeVar("T")

#: A generator method of a pass. It yields the parts whose results it needs, and returns the result of its own node.
Visit: TypeAlias = Generator[Any, T, T]


def _replaceable(method: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a method that subclasses may override with another signature. Type checkers then accept other contexts."""
    return method


class Walker(Generic[T]):
    """A pass over trees, with a method `visit_CLASS(node, *context)` per class of nodes.

    Such a method returns the result of its node, or is a generator. In a generator, `result = yield part` gives the
    result of a part, and `result = yield part, *context` gives its result in another context. If a class has no method,
    the method of a base class is used. If no base class has a method either, the walker rejects the node.

    T is the type of the results.
    """

    #: The name of the result that this pass computes, for messages such as "`tanh` has no …".
    WORLD = "meaning here"

    def __init__(self, file: str | None = None) -> None:
        self.file = file
        self._results: dict[tuple[Any, ...], tuple[Any, T]] = {}
        self._open: list[tuple[Any, Any, Any]] = []

    def walk(self, tree: Any, *context: Any) -> T:
        """Return the memoised result for a tree in a context of hashable values."""
        begun = len(self._open)  # a method may itself call walk, which then uses the stack above this height
        request = (tree, *context)
        try:
            while True:
                result = self._visit(request)
                # Resume (or start) the innermost generator with the result, until a generator requests another part.
                while result is _PENDING or len(self._open) > begun:
                    key, node, visit = self._open[-1]
                    try:
                        request = visit.send(None if result is _PENDING else result)
                    except StopIteration as end:
                        self._open.pop()
                        result = end.value
                        self._results[key] = node, result
                    else:
                        request = request if type(request) is tuple else (request,)
                        break
                else:
                    whole: T = result
                    return whole
        finally:
            del self._open[begun:]

    def _visit(self, request: Any) -> Any:
        """Return the result of a request, or _PENDING if the request pushed a generator onto the stack."""
        node = request[0]
        key = (id(node), *request[1:])
        if key in self._results:
            return self._results[key][1]
        classes: tuple[type, type] = type(self), type(node)
        result = getattr(self, _method(*classes))(*request)
        if type(result) is GeneratorType:
            self._open.append((key, node, result))
            return _PENDING
        self._results[key] = node, result  # keep a reference to the node, so that Python does not reuse its id
        return result

    def forget(self) -> None:
        """Forget all results, because a value on which they depend has changed."""
        self._results = {}

    def results(self, parts: Iterable[Any], *context: Any) -> Generator[Any, T, list[T]]:
        """Return the results of several parts. A method calls it as `results = yield from self.results(parts)`."""
        results = []
        for part in parts:
            results.append((yield part, *context))
        return results

    @_replaceable
    def visit_Local(self, node: Any, *context: Any) -> Visit[T]:
        return (yield node.term, *context)

    @_replaceable
    def visit_Function(self, node: Any, *context: Any) -> NoReturn:
        self.refuse(node, f"{node.name} has no {self.WORLD}")

    @_replaceable
    def visit_object(self, node: Any, *context: Any) -> NoReturn:
        self.refuse(node, f"`{type(node).__name__}` has no {self.WORLD}")

    def refuse(self, node: Any, why: str) -> NoReturn:
        """If the node has no line, name that of the closest enclosing node with a line."""
        around = (each for _, each, _ in reversed(self._open))
        lines = (getattr(each, "line", None) for each in (node, *around))
        raise InputError(why, self.file, next((line for line in lines if line), None))


class VectorWalker(Walker[Any]):
    """A pass whose result for a vector is the tuple of the results for its components."""

    def weighted(self, weights: Any, vector: Any, bias: Any) -> Any:
        """Return one output of a layer: the weighted sum of a vector's components, plus a bias."""
        raise NotImplementedError

    def visit_Vector(self, node: Any) -> Visit[Any]:
        return tuple((yield from self.results(node.terms)))

    def visit_Item(self, node: Any) -> Visit[Any]:
        return (yield node.vector)[node.index]

    def visit_Affine(self, node: Any) -> Visit[Any]:
        vector = yield node.vector
        if isinstance(node.weights, str) or isinstance(node.bias, str):
            self.refuse(node, f"an array of unknown weights has no {self.WORLD}")
        return tuple(self.weighted(row, vector, bias) for row, bias in zip(node.weights, node.bias, strict=True))


def componentwise(operation: Callable[..., Any], *values: Any) -> Any:
    """Apply an operation to numbers, or to each component of vectors (tuples), with a number for every component."""
    if not any(isinstance(value, tuple) for value in values):
        return operation(*values)
    columns = [value if isinstance(value, tuple) else repeat(value) for value in values]
    return tuple(operation(*row) for row in zip(*columns, strict=False))


_PENDING = object()


@cache
def _method(walker: type, node: type) -> str:
    return next(name for each in node.__mro__ if hasattr(walker, name := f"visit_{each.__name__}"))
