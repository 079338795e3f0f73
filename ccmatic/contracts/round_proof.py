"""Proofs about one round of a controller, as a map of real numbers. The map may multiply its numbers.

A round takes a few numbers, such as the share of a flow and the delay, to their values one round later. The laws state
what may happen in a round. The lemmas are about a single round, from any numbers that satisfy their premises.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ccmatic.base import InputError, suggest
from ccmatic.contracts.proof import Constant, Lemma, WithConstants
from ccmatic.logic import Term, Truth


class RoundNumbers(dict[str, Any]):
    """The numbers of a round by name: unknowns, or exact numbers."""

    def __missing__(self, name: str) -> Term:
        raise InputError(f"a law or lemma reads a number '{name}' that is not declared; {suggest(name, self)}")


@dataclass(frozen=True)
class RoundProof(WithConstants):
    """A proof about one round, as its file declares it.

    Attributes:
        controller: The name of the controller whose rounds the map describes.
        numbers: The meaning of each number of a round in words, by its name.
        laws: `laws(x)` yields the conditions that all rounds satisfy; x has the numbers by name.
        constants: The constants, in the order of the search.
        lemmas: The lemmas. Their premises and conclusions take the numbers x and the constants c.
        formerly: As in Proof.
    """

    controller: str
    numbers: Mapping[str, str]
    laws: Callable[[RoundNumbers], Iterable[Truth]]
    constants: tuple[Constant, ...]
    lemmas: tuple[Lemma, ...]
    formerly: tuple[str, ...] = ()
