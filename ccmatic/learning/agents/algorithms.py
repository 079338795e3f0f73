"""Learning algorithms by name: from folders of this package, from other packages, or from a user's folder."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from ccmatic.base import InputError, definitions, installed, shown, suggest
from ccmatic.learning.agents.contract import Agent

DEFAULT = "ppo"


def shipped() -> list[str]:
    """Return the names of the algorithms in this package, sorted."""
    return sorted(module.name for module in iter_modules([str(Path(__file__).parent)]) if module.ispkg)


def find(name: str) -> type[Agent]:
    """Return the Agent class of an algorithm.

    Args:
        name: The name of a shipped algorithm, or of an entry point in the group `ccmatic.agents`. The name may also be
            a folder's path that contains a `/`. The file `train.py` of this folder sets AGENT.

    Raises:
        InputError: If there is no such algorithm, or its AGENT is not a subclass of Agent.
    """
    ours = shipped()
    if not isinstance(name, str):
        raise InputError(f"algorithm is {shown(name)}; expected a name, such as {DEFAULT}")
    if name in ours:
        own: type[Agent] = import_module(f"ccmatic.learning.agents.{name}.train").AGENT
        return own
    if "/" in name:
        agent = definitions.load_from_folder(name, "train", "AGENT")
    else:
        added = installed.points("agents", ours)
        if name not in added:
            meant = f"did you mean './{name}'?" if Path(name).is_dir() else suggest(shown(name), [*ours, *added])
            raise InputError(f"unknown algorithm '{shown(name)}'; {meant}")
        agent = installed.load(added[name])
    if not (isinstance(agent, type) and issubclass(agent, Agent)):
        raise InputError(f"the AGENT of the algorithm {name} is {shown(agent)}; expected a subclass of Agent")
    return agent
