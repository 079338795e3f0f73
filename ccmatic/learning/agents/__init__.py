"""Train policies in ccmatic's environments (docs/reference/learning.md). Each algorithm has a folder of its own name.

This package needs the extra `rl`.
"""

from ccmatic.base import InputError

try:
    import optax  # noqa: F401
except ImportError as error:
    raise InputError(f"{error.name} is not installed; pip install 'ccmatic[rl]'") from None

from ccmatic.learning.agents.contract import Agent, Links, NoOptions, Played, is_whole, require_whole
from ccmatic.learning.agents.query import Training, load
from ccmatic.learning.agents.train import is_sweep, policy_file, sweep, train

__all__ = [
    "Agent",
    "Links",
    "NoOptions",
    "Played",
    "Training",
    "is_sweep",
    "is_whole",
    "load",
    "policy_file",
    "require_whole",
    "sweep",
    "train",
]
