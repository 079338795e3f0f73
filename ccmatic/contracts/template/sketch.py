"""Templates of controllers with state. A template is the text of a controller in which some numbers are open."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from textwrap import dedent
from typing import Any

from ccmatic.base import InputError, exact, syntax_tree
from ccmatic.base import docstring as embedded
from ccmatic.contracts.template.space import Template

#: The largest number of candidates of a sketch. The search runs each remaining candidate on each counterexample.
MOST = 10_000


@dataclass(frozen=True)
class Choice:
    """A possible value for an open number of a sketch."""

    name: str
    value: Fraction

    def __str__(self) -> str:
        return f"{self.name} = {str(self.value).replace('/', ' / ')}"


@dataclass(frozen=True)
class Sketch(Template[Choice]):
    """The text of a controller with some open numbers. A candidate has one value for each open number.

        Sketch("window: bytes = above(0)…", {"increase": (1, 2), "decrease": ("1/2", "3/4")})

    Attributes:
        text: A controller with state (docs/reference/stateful.md) without the definitions of some constants.
        numbers: The possible values of each of these constants, by name.

    Raises:
        InputError: If the text does not read an open constant, an open constant has no values, or there are too many
            candidates.
    """

    text: str
    numbers: Mapping[str, Iterable[Fraction | int | str]]
    _holes: tuple[tuple[Choice, ...], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", dedent(self.text).strip() + "\n")
        holes = [self._hole(name, values) for name, values in self.numbers.items()]
        object.__setattr__(self, "_holes", tuple(holes))
        if self.size > MOST:
            raise InputError(f"the sketch has {self.size:,} candidates; expected at most {MOST:,}")

    def _hole(self, name: str, values: Iterable[Fraction | int | str]) -> tuple[Choice, ...]:
        if not (name.isidentifier() and re.search(rf"\b{name}\b", self.text)):
            raise InputError(
                f"the sketch leaves `{name}` open, but its text does not read it; expected a name in the text"
            )
        choices = tuple(dict.fromkeys(Choice(name, exact(value)) for value in values))
        if not choices:
            raise InputError(f"no numbers for `{name}`; expected one at least")
        return choices

    def holes(self) -> tuple[tuple[Choice, ...], ...]:
        return self._holes

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all parameters of the functions in the text."""
        functions = (node for node in ast.walk(syntax_tree(self.text)) if isinstance(node, ast.FunctionDef))
        return frozenset(argument.arg for function in functions for argument in function.args.args)

    def source(self, forms: Iterable[Choice], docstring: str) -> str:
        chosen = "".join(f"{choice}\n" for choice in forms)
        return f"{embedded(docstring)}\n\n{chosen}\n{self.text}"

    def kind(self, forms: Iterable[Choice]) -> tuple[Choice, ...]:
        """Return the choices themselves, because each candidate is the only member of its class."""
        return tuple(forms)

    def samples(self) -> Iterator[str]:
        """Yield a source for each choice of each number, combined with the first choices of the other numbers."""
        first = [hole[0] for hole in self._holes]
        for index, hole in enumerate(self._holes):
            for choice in hole:
                yield self.source([*first[:index], choice, *first[index + 1 :]], "A candidate.")

    def described(self) -> Any:
        return [self.text, [[str(choice) for choice in hole] for hole in self._holes]]
