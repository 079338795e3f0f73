"""What a template is to a search: holes, what may fill them, and the controllers that come of it."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import Any, Generic, TypeVar

from ccmatic.base import InputError

F = TypeVar("F")


class Template(Generic[F]):
    """A search space; F: what fills its holes. A candidate is a form for each hole, or the tuple of their indices."""

    def holes(self) -> tuple[tuple[F, ...], ...]:
        """What may fill each hole, in the order of the source."""
        raise NotImplementedError

    @property
    def names(self) -> frozenset[str]:
        """The beliefs, observations and constants that a candidate may read."""
        raise NotImplementedError

    def source(self, forms: Sequence[F], docstring: str) -> str:
        """The controller in which `forms` fill the holes."""
        raise NotImplementedError

    def kind(self, forms: Sequence[F]) -> tuple[Any, ...]:
        """What the candidates of a class have in common (docs/encoding.md, section 9, "Counting")."""
        raise NotImplementedError

    def samples(self) -> Iterator[str]:
        """Sources in which each form occurs, or one of its kind: what is checked before a search."""
        raise NotImplementedError

    def described(self) -> Any:
        """All that it is, as lists of text; what a run of synthesis keeps a digest of."""
        raise NotImplementedError

    @cached_property
    def size(self) -> int:
        """How many candidates there are."""
        return prod(len(hole) for hole in self.holes())

    def forms(self, indices: Sequence[int]) -> tuple[F, ...]:
        """The forms with these indices in the holes. Raises InputError if there is not one in its range for each."""
        holes = self.holes()
        if len(indices) != len(holes) or any(
            type(index) is not int or not 0 <= index < len(hole) for index, hole in zip(indices, holes, strict=True)
        ):
            sizes = ", ".join(str(len(hole)) for hole in holes)
            raise InputError(f"the candidate is {list(indices)}; expected an index for each hole, below {sizes}")
        return tuple(hole[index] for hole, index in zip(holes, indices, strict=True))

    def candidate(self, indices: Sequence[int]) -> str:
        """The source of the candidate with these forms, by their indices in the holes."""
        return self.source(self.forms(indices), "A candidate.")
