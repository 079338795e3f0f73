"""Learning algorithms by name: from modules of this package, from other packages, or from a user's folder."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from ccmatic.base import InputError, definitions, installed, shown, suggest
from ccmatic.learning.agents.contract import Agent

DEFAULT = "ppo"


def shipped() -> list[str]:
    return sorted(module.name for module in iter_modules([str(Path(__file__).parent)]))


def find(name: str) -> type[Agent]:
    """Return the Agent class of an algorithm: a shipped name, or an entry point in the group `ccmatic.agents`.

    The name may also be the path of a folder, with a `/`, whose file `train.py` sets AGENT.
    """
    ours = shipped()
    if not isinstance(name, str):
        raise InputError(f"algorithm is {shown(name)}; expected a name, such as {DEFAULT}")
    if name in ours:
        own: type[Agent] = import_module(f"ccmatic.learning.agents.algorithms.{name}").AGENT
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
