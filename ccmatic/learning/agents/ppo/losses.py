"""The loss function of PPO: skrl's clipped loss, with the options in this module."""

from typing import Any

from skrl.agents.jax.ppo import PPO_CFG
from skrl.resources.preprocessors.jax import RunningStandardScaler

from ccmatic.learning.agents.query import AgentSection
from ccmatic.learning.agents.skrl_agents import QUIET


def settings(section: AgentSection, device: Any) -> Any:
    """Return skrl's options for the section [agent] of a query.

    With these options, skrl divides values by their running standard deviation.
    """
    own = section.options
    return PPO_CFG(
        rollouts=own.rollout,
        learning_epochs=own.epochs,
        mini_batches=own.batches,
        discount_factor=section.gamma,
        learning_rate=section.learning_rate,
        value_preprocessor=RunningStandardScaler,
        value_preprocessor_kwargs={"size": 1, "device": device},
        experiment=QUIET,
    )
