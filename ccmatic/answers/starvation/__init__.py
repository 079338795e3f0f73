"""Starvation: how small a share of the link a network can leave to a flow, for ever or in one window, and why."""

from ccmatic.answers.starvation.search import Attempt, Starvation, starve, usual_network

__all__ = ["Attempt", "Starvation", "starve", "usual_network"]
