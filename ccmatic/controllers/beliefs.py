"""The beliefs of shipped models, by name."""

from functools import cache

from ccmatic.base import definitions


@cache
def shipped_beliefs():
    """Return the units of the beliefs of all shipped models, by name.

    A controller may read these beliefs if the caller names no beliefs. The controller's local names must differ from
    them.
    """
    return {belief.name: belief.unit for model in definitions.every("models", "MODEL") for belief in model.beliefs}
