"""Simulate networks and deployed senders, packet by packet."""

from ccmatic.networks.simulation.deployed import DeployedController
from ccmatic.networks.simulation.packets import NEVER
from ccmatic.networks.simulation.paths import HIDING, JITTER, Path, PathChange, aggregation
from ccmatic.networks.simulation.run import delays, sampled
from ccmatic.networks.simulation.simulator import Simulation, simulate
from ccmatic.networks.simulation.windows import SharedLink, Shares, WindowFlow

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
