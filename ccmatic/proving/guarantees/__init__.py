"""Translate a proof into a guarantee on a path, in the path's own units (docs/reference/guarantees.md)."""

from ccmatic.proving.guarantees.results import Result, of_controller, shipped
from ccmatic.proving.guarantees.table import text
from ccmatic.proving.guarantees.translation import DeployedPath, Guarantee, guarantee, translate

__all__ = [
    "DeployedPath",
    "Guarantee",
    "Result",
    "guarantee",
    "of_controller",
    "shipped",
    "text",
    "translate",
]
