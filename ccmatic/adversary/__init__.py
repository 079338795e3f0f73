"""The network as an adversary: links whose rate is chosen, within a budget, against a sender (docs/adversaries.md). It
needs the extra `rl`."""

from ccmatic.adversary.attack import Attack
from ccmatic.adversary.levels import Bandwidth, Jitter, LeastRtt, anything
from ccmatic.adversary.played import Played, baseline, following, play, worst
from ccmatic.adversary.target import Target, target
from ccmatic.adversary.trained import LINKS, OPTIONS, Adversary, attack, constrained, load
from ccmatic.adversary.transfer import along, transfer, written

__all__ = [
    "LINKS",
    "OPTIONS",
    "Adversary",
    "Attack",
    "Bandwidth",
    "Jitter",
    "LeastRtt",
    "Played",
    "Target",
    "along",
    "anything",
    "attack",
    "baseline",
    "constrained",
    "following",
    "load",
    "play",
    "target",
    "transfer",
    "worst",
    "written",
]
