"""Translate a proof into a guarantee on a path, in the path's own units (docs/reference/guarantees.md)."""

from ccmatic.proving.guarantees.translation import (
    DeployedPath,
    Guarantee,
    Result,
    guarantee,
    of_controller,
    shipped,
    text,
    translate,
)

__all__ = ["DeployedPath", "Guarantee", "Result", "guarantee", "of_controller", "shipped", "text", "translate"]
