"""The loss of REINFORCE (Williams, 1992), with the mean reward of the episode as baseline."""

from .networks import mean


def loss(layers, observations, actions, rewards, deviation):
    """Minus the mean of advantage times log-probability, over intervals and links; γ is 0."""
    advantage = rewards - rewards.mean()
    return (advantage * ((actions - mean(layers, observations)) / deviation) ** 2 / 2).mean()
