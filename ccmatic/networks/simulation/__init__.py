"""Simulate networks and deployed senders, packet by packet."""

from ccmatic.networks.simulation.changes import PathChange
from ccmatic.networks.simulation.deployed import DeployedController
from ccmatic.networks.simulation.packets import NEVER
from ccmatic.networks.simulation.paths import HIDING, JITTER, Path, aggregation
from ccmatic.networks.simulation.run import delays, sampled
from ccmatic.networks.simulation.shared import SharedLink, Shares
from ccmatic.networks.simulation.simulator import Simulation, simulate
from ccmatic.networks.simulation.windows import WindowFlow

__all__ = [
    "HIDING",
    "JITTER",
    "NEVER",
    "DeployedController",
    "Path",
    "PathChange",
    "SharedLink",
    "Shares",
    "Simulation",
    "WindowFlow",
    "aggregation",
    "delays",
    "sampled",
    "simulate",
]
