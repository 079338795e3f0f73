"""All cells: every definition in every world of its kind."""

from conformance.beliefs import BELIEFS, ROUNDED
from conformance.bottlenecks import BOTTLENECKS, WHOLE_PACKETS
from conformance.links import FLUIDS, MORE_FLUIDS, PACKETS, WINDOWS
from conformance.networks import NETWORKS
from conformance.rates import (
    CONTROLLERS,
    CURVED_CONTROLLERS,
    LAYERED_CONTROLLERS,
    drawn_controllers,
    drawn_on_fractions,
)
from conformance.signals import DEPLOYED_SIGNALS, SIGNALS
from conformance.updates import UPDATES, drawn_updates
from conformance.worlds import Cell

KINDS = (
    *(CONTROLLERS, LAYERED_CONTROLLERS, CURVED_CONTROLLERS, drawn_controllers(range(4)), drawn_on_fractions(range(8))),
    *(UPDATES, drawn_updates(range(3)), BELIEFS, ROUNDED, SIGNALS, DEPLOYED_SIGNALS, NETWORKS),
    *(PACKETS, WINDOWS, FLUIDS, BOTTLENECKS, WHOLE_PACKETS),
)


def cells(kinds):
    """Each definition of some kinds in each of its worlds."""
    return [
        Cell(kind, definition, world)
        for kind in kinds
        for definition in kind.definitions
        for world in (*kind.worlds, *kind.accepts)
    ]


CELLS = cells(KINDS)

#: More cells for the slow sample: of controllers that are drawn at random, and of links with several flows.
MORE_CELLS = cells([
    *(drawn_controllers(range(4, 40)), drawn_on_fractions(range(8, 60)), drawn_updates(range(3, 20))),
    MORE_FLUIDS,
])  # fmt: skip
