"""Export controllers: each becomes one C header, with further files for the chosen target."""

from ccmatic.exporting.files import names, write
from ccmatic.exporting.header import MOST, Export, make, make_guard, rounded
from ccmatic.exporting.parts import constants, no_fractions, title
from ccmatic.exporting.stateful import StatefulExport
from ccmatic.exporting.targets import kernel_name

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
