"""All cells: every definition in every world of its kind."""

from conformance.beliefs import BELIEFS, ROUNDED
from conformance.links import FLUIDS, PACKETS, WINDOWS
from conformance.networks import NETWORKS
from conformance.rates import CONTROLLERS
from conformance.signals import DEPLOYED_SIGNALS, SIGNALS
from conformance.updates import UPDATES
from conformance.worlds import Cell

KINDS = (
    *(CONTROLLERS, UPDATES, BELIEFS, ROUNDED, SIGNALS, DEPLOYED_SIGNALS),
    *(NETWORKS, PACKETS, WINDOWS, FLUIDS),
)

CELLS = [
    Cell(kind, definition, world)
    for kind in KINDS
    for definition in kind.definitions
    for world in (*kind.worlds, *kind.accepts)
]
