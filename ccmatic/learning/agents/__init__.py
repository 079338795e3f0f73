"""Training of policies in ccmatic's environments, by skrl's PPO or TD3 on JAX (docs/training.md). It needs the
extra `rl`."""

from ccmatic.base import InputError

try:
    import skrl
except ImportError as error:
    raise InputError(f"{error.name} is not installed; pip install 'ccmatic[rl]'") from None

from ccmatic.learning.agents.query import Training, load
from ccmatic.learning.agents.train import train

skrl.logger.setLevel("ERROR")

__all__ = ["Training", "load", "train"]
