"""The network as an adversary: links that act within a budget against a sender (docs/reference/adversary.md).

This package needs the extra `rl`.
"""

from ccmatic.learning.adversaries.attack import Attack
from ccmatic.learning.adversaries.levels import Bandwidth, Jitter, LeastRtt, anything
from ccmatic.learning.adversaries.played import EpisodeResults, baseline, following, play, worst
from ccmatic.learning.adversaries.target import Target, target
from ccmatic.learning.adversaries.trained import LINKS, OPTIONS, Adversary, constrained, load, make_attack
from ccmatic.learning.adversaries.transfer import along, attack, written

__all__ = [
    "LINKS",
    "OPTIONS",
    "Adversary",
    "Attack",
    "Bandwidth",
    "EpisodeResults",
    "Jitter",
    "LeastRtt",
    "Target",
    "along",
    "anything",
    "attack",
    "baseline",
    "constrained",
    "following",
    "load",
    "make_attack",
    "play",
    "target",
    "worst",
    "written",
]
