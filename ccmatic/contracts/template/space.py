"""Templates as search spaces, with holes, the forms that may fill the holes, and the resulting controllers."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import Any, Generic, TypeVar

from ccmatic.base import InputError

F = TypeVar("F")


class Template(Generic[F]):
    """A search space of controllers. F is the type of the forms that fill the holes.

    A candidate is a choice of one form for each hole, or the tuple of the forms' indices.
    """

    def holes(self) -> tuple[tuple[F, ...], ...]:
        """Return the forms that may fill each hole, in source order."""
        raise NotImplementedError

    @property
    def names(self) -> frozenset[str]:
        """The beliefs, observations and constants that a candidate may read."""
        raise NotImplementedError

    def source(self, forms: Sequence[F], docstring: str) -> str:
        """Return the controller whose holes are filled with `forms`."""
        raise NotImplementedError

    def kind(self, forms: Sequence[F]) -> tuple[Any, ...]:
        """Return the part by which classes differ (docs/reference/encoding.md, section 9, "Counting")."""
        raise NotImplementedError

    def samples(self) -> Iterator[str]:
        """Yield sources to check before a search.

        Together, they contain each form, or another form of the same class.
        """
        raise NotImplementedError

    def described(self) -> Any:
        """Return the full content of the template as lists of text. A synthesis run records a digest of these lists."""
        raise NotImplementedError

    @cached_property
    def size(self) -> int:
        return prod(len(hole) for hole in self.holes())

    def forms(self, indices: Sequence[int]) -> tuple[F, ...]:
        """Return the forms with these indices, one for each hole; InputError for any other indices."""
        holes = self.holes()
        if len(indices) != len(holes) or any(
            type(index) is not int or not 0 <= index < len(hole) for index, hole in zip(indices, holes, strict=True)
        ):
            sizes = ", ".join(str(len(hole)) for hole in holes)
            raise InputError(f"the candidate is {list(indices)}; expected an index for each hole, below {sizes}")
        return tuple(hole[index] for hole, index in zip(holes, indices, strict=True))

    def candidate(self, indices: Sequence[int]) -> str:
        return self.source(self.forms(indices), "A candidate.")
