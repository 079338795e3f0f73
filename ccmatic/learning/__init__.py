"""Learning: environments, agents, trained policies, adversaries, and estimates of a sender's path.

The names of `ccmatic.learning.envs` are also available here. Python imports that subpackage at the first use of a name,
because it needs JAX; policies and estimation do not need JAX. The import of this package registers `ccmatic/Link-v0`
with Gymnasium, if Gymnasium is installed.
"""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and find_spec(f"ccmatic.learning.{name}") is None:
        envs = import_module("ccmatic.learning.envs")
        if name in envs.__all__:
            return getattr(envs, name)
    raise AttributeError(f"module 'ccmatic.learning' has no attribute '{name}'")


def _register(gymnasium: ModuleType) -> None:
    link, links = "ccmatic.learning.envs:LinkEnv", "ccmatic.learning.envs:LinkVectorEnv"
    gymnasium.register("ccmatic/Link-v0", entry_point=link, vector_entry_point=links)
    real = {"backend": "emulator"}
    gymnasium.register("ccmatic/RealLink-v0", entry_point=link, kwargs=real, nondeterministic=True)


if find_spec("gymnasium"):
    _register(import_module("gymnasium"))
