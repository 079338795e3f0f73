"""The beliefs of shipped models, by name."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from ccmatic.base import definitions


def shipped_beliefs() -> Mapping[str, Any]:
    """Return the units of the beliefs of all shipped models, by name.

    A controller may read these beliefs if the caller names no beliefs. The controller's local names must differ from
    them. The models are imported at the first look-up, because most controllers need no look-up.
    """
    return _ShippedBeliefs()


class _ShippedBeliefs(Mapping[str, Any]):
    def __getitem__(self, name: str) -> Any:
        return _units()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_units())

    def __len__(self) -> int:
        return len(_units())


@cache
def _units() -> Mapping[str, Any]:
    return {belief.name: belief.unit for model in definitions.every("models", "MODEL") for belief in model.beliefs}
