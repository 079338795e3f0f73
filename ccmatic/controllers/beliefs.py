"""The beliefs of shipped models, by name."""

from functools import cache

from ccmatic.base import definitions


@cache
def shipped_beliefs():
    """The units of the beliefs of all models that ccmatic ships, by name: what a controller may read if the caller does
    not say, and what its local names may not be called."""
    return {belief.name: belief.unit for model in definitions.every("models", "MODEL") for belief in model.beliefs}
