"""Simulate networks and deployed senders, packet by packet."""

from ccmatic.simulation.changes import PathChange
from ccmatic.simulation.deployed import DeployedController
from ccmatic.simulation.packets import NEVER
from ccmatic.simulation.paths import HIDING, JITTER, Path, aggregation
from ccmatic.simulation.run import delays, sampled
from ccmatic.simulation.shared import SharedLink, Shares
from ccmatic.simulation.simulator import Simulation, simulate
from ccmatic.simulation.windows import WindowFlow

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
