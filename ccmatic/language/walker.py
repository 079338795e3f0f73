"""One walk over trees, which every pass uses: memoised, and without Python's limit of recursion.

A tree shares its parts (`tree.Local`), so a pass that visits each path to a part takes exponentially long. A walker
visits each node once per context. It keeps its own stack: the methods of a pass are generators which yield the part
whose result they need, so that a pass is written as if it were recursive and may leave parts out.
"""

from collections.abc import Callable, Generator, Iterable
from functools import cache
from itertools import repeat
from types import GeneratorType
from typing import Any, Generic, NoReturn, TypeAlias, TypeVar

from ccmatic.base import InputError

T = TypeVar("T")

#: A method of a pass as a generator: it yields the parts whose results it needs, and returns its own result.
Visit: TypeAlias = Generator[Any, T, T]


def _replaceable(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let passes replace a method by one for the contexts that they have."""
    return method


class Walker(Generic[T]):
    """A pass over trees: a method `visit_CLASS(node, *context)` for each class of nodes that it knows.

    A method returns the result of its node, or is a generator: `result = yield part` gives the result of a part, and
    `result = yield part, *context` its result in another context. A class without a method falls back to the classes
    that it extends; one that has none at all is refused.

    T is the type of the results.

    Args:
        file: The file that the tree was read from, for messages.
    """

    #: What this pass makes of a tree, for messages: "`tanh` has no …".
    WORLD = "meaning here"

    def __init__(self, file: str | None = None) -> None:
        self.file = file
        self._results: dict[tuple[Any, ...], tuple[Any, T]] = {}
        self._open: list[tuple[Any, Any, Any]] = []

    def walk(self, tree: Any, *context: Any) -> T:
        """Return the result for a tree, in a context of hashable values. The pass remembers it."""
        begun = len(self._open)
        request = (tree, *context)
        try:
            while True:
                result = self._visit(request)
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
        """The result of a request; _PENDING if its generator stands on the stack."""
        node = request[0]
        key = (id(node), *request[1:])
        if key in self._results:
            return self._results[key][1]
        classes: tuple[type, type] = type(self), type(node)
        result = getattr(self, _method(*classes))(*request)
        if type(result) is GeneratorType:
            self._open.append((key, node, result))
            return _PENDING
        self._results[key] = node, result  # a node that is kept keeps its id
        return result

    def forget(self) -> None:
        """Forget the results, since what they depend on has changed."""
        self._results = {}

    def each(self, parts: Iterable[Any], *context: Any) -> Generator[Any, T, list[T]]:
        """The results of several parts, in a method: `results = yield from self.each(parts)`."""
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
        """Raise InputError, with the line of the node or of the closest node around it that has one."""
        around = (each for _, each, _ in reversed(self._open))
        lines = (getattr(each, "line", None) for each in (node, *around))
        raise InputError(why, self.file, next((line for line in lines if line), None))


class VectorWalker(Walker[Any]):
    """A pass whose result of a vector is the tuple of the results of its components."""

    def weighted(self, weights: Any, vector: Any, bias: Any) -> Any:
        """Return the sum of the weights times the components of a vector, plus a bias: an output of a layer."""
        raise NotImplementedError

    def visit_Vector(self, node: Any) -> Visit[Any]:
        return tuple((yield from self.each(node.terms)))

    def visit_Item(self, node: Any) -> Visit[Any]:
        return (yield node.vector)[node.index]

    def visit_Affine(self, node: Any) -> Visit[Any]:
        vector = yield node.vector
        if isinstance(node.weights, str) or isinstance(node.bias, str):
            self.refuse(node, f"an array of unknown weights has no {self.WORLD}")
        return tuple(self.weighted(row, vector, bias) for row, bias in zip(node.weights, node.bias, strict=True))


def componentwise(operation: Callable[..., Any], *values: Any) -> Any:
    """Apply an operation to numbers, or to each component of vectors (tuples); a number goes with every component."""
    if not any(isinstance(value, tuple) for value in values):
        return operation(*values)
    columns = [value if isinstance(value, tuple) else repeat(value) for value in values]
    return tuple(operation(*row) for row in zip(*columns, strict=False))


_PENDING = object()


@cache
def _method(walker: type, node: type) -> str:
    return next(name for each in node.__mro__ if hasattr(walker, name := f"visit_{each.__name__}"))
