"""Export controllers: each becomes one C header, with further files for the chosen target."""

from ccmatic.deployment.exporting.header import MOST, Export, make, make_guard, rounded
from ccmatic.deployment.exporting.stateful import StatefulExport
from ccmatic.deployment.exporting.targets import constants, kernel_name, names, no_fractions, title, write

__all__ = [
    "MOST",
    "Export",
    "StatefulExport",
    "constants",
    "kernel_name",
    "make",
    "make_guard",
    "names",
    "no_fractions",
    "rounded",
    "title",
    "write",
]
