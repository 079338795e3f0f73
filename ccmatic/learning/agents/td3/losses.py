"""What an update of TD3 minimises: skrl's losses of two critics and a policy, with these options."""

from typing import Any

from skrl.agents.jax.td3 import TD3_CFG
from skrl.resources.noises.jax import GaussianNoise

from ccmatic.learning.agents.query import AgentSection
from ccmatic.learning.agents.skrl_agents import QUIET

#: Of the target's actions, as shares of the largest action: how they deviate, and at most (its authors').
SMOOTHING = 0.2, 0.5

#: The policy's learning rate over that of the critics: as DDPG's authors have it.
SLOWER = 0.1


def settings(section: AgentSection, steps: int, most: float, device: Any) -> Any:
    """Return skrl's options for the section [agent] of a query. steps: of an episode; most: the largest action."""
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
