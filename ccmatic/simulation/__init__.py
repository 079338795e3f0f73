"""Networks and deployed senders, packet by packet."""

from ccmatic.simulation.deployed import Deployed
from ccmatic.simulation.paths import HIDING, JITTER, NEVER, Path
from ccmatic.simulation.simulator import Simulation, simulate

__all__ = ["HIDING", "JITTER", "NEVER", "Deployed", "Path", "Simulation", "simulate"]
