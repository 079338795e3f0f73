"""The loss functions of TD3: skrl's losses of two critics and a policy, with the options in this module."""

from typing import Any

from skrl.agents.jax.td3 import TD3_CFG
from skrl.resources.noises.jax import GaussianNoise

from ccmatic.learning.agents.query import AgentSection
from ccmatic.learning.agents.skrl_agents import QUIET

#: The noise on the target policy's actions: its standard deviation and its limit, as shares of the largest action
#: (values of the TD3 authors).
SMOOTHING = 0.2, 0.5

#: The policy's learning rate divided by the critics' learning rate (value of the DDPG authors).
SLOWER = 0.1


def settings(section: AgentSection, steps: int, most: float, device: Any) -> Any:
    """Return skrl's options for the section [agent] of a query.

    Args:
        section: The AgentSection.
        steps: The number of intervals in an episode.
        most: The largest action.
        device: The device of JAX.
    """
    own = section.options
    return TD3_CFG(
        learning_starts=steps - 1,
        gradient_steps=own.updates,
        batch_size=own.batch,
        discount_factor=section.gamma,
        learning_rate=(section.learning_rate * SLOWER, section.learning_rate),
        exploration_noise=GaussianNoise,
        exploration_noise_kwargs={"mean": 0, "std": section.deviation, "device": device},
        smooth_regularization_noise=GaussianNoise,
        smooth_regularization_noise_kwargs={"mean": 0, "std": SMOOTHING[0] * most, "device": device},
        smooth_regularization_clip=SMOOTHING[1] * most,
        experiment=QUIET,
    )
