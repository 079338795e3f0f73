"""Translate a proof into a guarantee on a path, in the path's own units (docs/reference/guarantees.md)."""

from ccmatic.proving.guarantees.results import Result, of_controller, read_result, shipped
from ccmatic.proving.guarantees.table import text
from ccmatic.proving.guarantees.translation import DeployedPath, Guarantee, path, translate

__all__ = [
    "DeployedPath",
    "Guarantee",
    "Result",
    "of_controller",
    "path",
    "read_result",
    "shipped",
    "text",
    "translate",
]
