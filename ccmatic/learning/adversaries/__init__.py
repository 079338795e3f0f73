"""The network as an adversary: links that act within a budget against a sender (docs/reference/adversary.md).

This package needs the extra `rl`.
"""

from ccmatic.learning import needs  # noqa: F401
from ccmatic.learning.adversaries.attack import Attack, Bandwidth, Jitter, LeastRtt, Target, anything, target
from ccmatic.learning.adversaries.trained import (
    LINKS,
    OPTIONS,
    Adversary,
    EpisodeResults,
    along,
    attack,
    baseline,
    constrained,
    following,
    load,
    make_attack,
    play,
    worst,
    written,
)

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
