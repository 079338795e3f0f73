"""Environments for learning.

The environments simulate many links at once as fluids, and have Gymnasium and PettingZoo interfaces. These environments
need the extra `rl`. See docs/learning.md.
"""

from ccmatic.learning import needs  # noqa: F401
from ccmatic.learning.envs.backends import Fluid
from ccmatic.learning.envs.environment import ActionFunction, Environment, Learnable
from ccmatic.learning.envs.gym import LEARNED, LinkEnv, make_environment, spaces
from ccmatic.learning.envs.links import LinkOptions
from ccmatic.learning.envs.parallel import LinkParallelEnv
from ccmatic.learning.envs.rollout import Episode, LawCheck, lawful, rollout, sender, trained
from ccmatic.learning.envs.senders import remembering
from ccmatic.learning.envs.signals import EnvironmentState, RolloutPolicy, stateless
from ccmatic.learning.envs.task import Task, TaskState
from ccmatic.learning.envs.vector import LinkVectorEnv

__all__ = [
    "LEARNED",
    "ActionFunction",
    "Environment",
    "EnvironmentState",
    "Episode",
    "Fluid",
    "LawCheck",
    "Learnable",
    "LinkEnv",
    "LinkOptions",
    "LinkParallelEnv",
    "LinkVectorEnv",
    "RolloutPolicy",
    "Task",
    "TaskState",
    "lawful",
    "make_environment",
    "remembering",
    "rollout",
    "sender",
    "spaces",
    "stateless",
    "trained",
]
