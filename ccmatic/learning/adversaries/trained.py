"""Attacks that are asked for by name, and adversaries that were trained in them, each one file of numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ccmatic import records
from ccmatic.base import InputError, located, read_text, shown, suggest
from ccmatic.learning import policies
from ccmatic.learning.adversaries.attack import Attack
from ccmatic.learning.adversaries.levels import Bandwidth, Jitter, LeastRtt
from ccmatic.learning.adversaries.played import Played, baseline, play, worst
from ccmatic.learning.adversaries.target import target
from ccmatic.learning.envs import LinkOptions

#: Keys of the section [adversary] of a query.
OPTIONS = ("target", "reward", "penalty", "history", "runs", "level", "within")

#: What an adversary chooses: by CCLab's names, and what the laws of a link with jitter leave open.
LEVELS: dict[str, Callable[..., Bandwidth | LeastRtt | Jitter]] = {
    "environment": Bandwidth,
    "feature": LeastRtt,
    "jitter": Jitter,
}

#: What the links of an attack are unless it is said otherwise: CCLab's range and R_m. Its buffer is a BDP, here that of
#: the middle of the range.
LINKS = {"rate": {"low": 1, "high": 96}, "rtt": 20, "buffer": 121_250}


def attack(options: Mapping[str, Any], links: Mapping[str, Any], threshold: float = 0.0) -> Attack:
    """The Attack that two sections of a query ask for: [adversary], and [environment] with options of LinkOptions.
    threshold: seconds. Raises InputError."""
    level = _level(options)
    names = [each.name for each in fields(LinkOptions) if each.init and (each.name != "links" or level.follows_links)]
    for name in links:
        if name not in names:
            raise InputError(f"unknown option '{name}' of an attack's links; {suggest(name, names)}")
    if "target" not in options:
        raise InputError('[adversary] has no target; expected a sender\'s name, such as target = "cubic"')
    ours = {key: value for key, value in LINKS.items() if key != "buffer" or "buffer_bdp" not in links}
    link_options = LinkOptions(**{"links": "smooth", **ours, **links})
    if isinstance(level, Jitter) and not link_options.jitter.ends[0]:
        raise InputError("the jitter of a link may be 0; expected more, of which an adversary at 'jitter' chooses")
    given = {key: options[key] for key in ("reward", "penalty", "history", "runs") if key in options}
    return Attack(target(options["target"], link_options), threshold=threshold, level=level, **given)


def _level(options: Mapping[str, Any]) -> Bandwidth | LeastRtt | Jitter:
    name = options.get("level", "environment")
    if name not in LEVELS:
        raise InputError(f"unknown level '{shown(name)}'; {suggest(str(name), LEVELS)}")
    given = {"within": options["within"]} if "within" in options else {}
    if name != "feature" and given:
        raise InputError(f"within is of the level 'feature'; expected none at '{name}'")
    if name == "feature" and not given:
        raise InputError("[adversary] has no within; expected by how much the least RTT may be wrong, such as 0.05")
    return LEVELS[name](**given)


def constrained(attack: Attack) -> Attack:
    """An Attack with CCLab's threshold: the mean queueing delay unharmed."""
    return replace(attack, threshold=float(baseline(attack).delay.mean()))


@dataclass(frozen=True)
class Adversary:
    """An AdversaryFile that has been checked, and its Attack."""

    file: records.AdversaryFile
    attack: Attack

    @cached_property
    def layers(self) -> policies.Layers:
        """As of `policies.arrays`."""
        return policies.arrays(self.file.layers)

    def played(self) -> Played:
        """What it does in as many episodes as its baseline has, on the same links or from the same rates on."""
        return play(self.attack, lambda state, seen, key: policies.outputs(self.layers, seen)[..., 0], self.attack.runs)

    def trace(self) -> tuple[NDArray[Any], bool]:
        """The rates of the `worst` episode, (steps) Mbit/s, and whether there is one with the threshold's delay."""
        episodes = self.played()
        number, constrained = worst(episodes, self.attack.threshold)
        return episodes.rates[:, number], constrained


def load(path: str | Path) -> Adversary:
    """The Adversary in a file. Raises InputError, which names it, for what is none."""
    file = records.read_record(read_text(path), records.AdversaryFile, str(path))
    with located(str(path)):
        if not 0 <= file.threshold < 1e6:
            raise InputError(f"the threshold is {file.threshold}; expected seconds, at least 0")
        made = attack(file.query.get("adversary", {}), file.query.get("environment", {}), file.threshold)
    policies.check_layers(file.layers, made.size, f"its observations have {made.size} numbers", str(path))
    return Adversary(file, made)
