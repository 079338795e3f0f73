"""Environments for learners: many links at once, as fluids; Gymnasium's and PettingZoo's interfaces (docs/learning.md).

Importing it registers `ccmatic/Link-v0`. It needs the extra `rl`.
"""

from ccmatic.base import InputError

try:
    import gymnasium  # noqa: F401
    import jax  # noqa: F401
    import pettingzoo  # noqa: F401
except ImportError as error:
    raise InputError(f"{error.name} is not installed; pip install 'ccmatic[rl]'") from None

from ccmatic.learning.backends import Fluid
from ccmatic.learning.environment import Environment, State
from ccmatic.learning.gym import LEARNED, LinkEnv, LinkParallelEnv, LinkVectorEnv, environment, spaces
from ccmatic.learning.links import Asked
from ccmatic.learning.rollout import Episode, Lawful, Policy, lawful, rollout, stateless
from ccmatic.learning.senders import network, remembering, sender, trained

__all__ = [
    "LEARNED",
    "Asked",
    "Environment",
    "Episode",
    "Fluid",
    "Lawful",
    "LinkEnv",
    "LinkParallelEnv",
    "LinkVectorEnv",
    "Policy",
    "State",
    "environment",
    "lawful",
    "network",
    "remembering",
    "rollout",
    "sender",
    "spaces",
    "stateless",
    "trained",
]
