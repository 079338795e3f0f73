"""Train policies in ccmatic's environments (docs/reference/learning.md). Each algorithm has a folder of its own name.

This package needs the extra `rl`.
"""

from ccmatic.base import InputError

try:
    import optax  # noqa: F401
except ImportError as error:
    raise InputError(f"{error.name} is not installed; pip install 'ccmatic[rl]'") from None

from ccmatic.learning.agents.contract import Agent, NoOptions, is_whole, require_whole
from ccmatic.learning.agents.links import Links, Played
from ccmatic.learning.agents.query import Training, load
from ccmatic.learning.agents.sweep import is_sweep
from ccmatic.learning.agents.sweep import run as sweep
from ccmatic.learning.agents.tensorboard import Board
from ccmatic.learning.agents.train import train

__all__ = [
    "Agent",
    "Board",
    "Links",
    "NoOptions",
    "Played",
    "Training",
    "is_sweep",
    "is_whole",
    "load",
    "require_whole",
    "sweep",
    "train",
]
