"""Attacks by name, and trained adversaries, which are stored as files of numbers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ccmatic import records
from ccmatic.base import InputError, located, read_text, shown, suggest
from ccmatic.deployment import policies
from ccmatic.learning.adversaries.attack import Attack
from ccmatic.learning.adversaries.levels import Bandwidth, Jitter, LeastRtt
from ccmatic.learning.adversaries.played import EpisodeResults, baseline, play, worst
from ccmatic.learning.adversaries.target import target
from ccmatic.learning.envs import LinkOptions

#: The keys of the section [adversary] of a query.
OPTIONS = ("target", "reward", "penalty", "history", "runs", "level", "within")

#: The levels by name: the two levels of CCLab, and the level of jitter.
LEVELS: dict[str, Callable[..., Bandwidth | LeastRtt | Jitter]] = {
    "environment": Bandwidth,
    "feature": LeastRtt,
    "jitter": Jitter,
}

#: The default links of an attack: CCLab's range of rates and its R_m. CCLab's buffer is one BDP. In this table, the BDP
#: is that of the middle of the range.
LINKS = {"rate": {"low": 1, "high": 96}, "rtt": 20, "buffer": 121_250}


def make_attack(options: Mapping[str, Any], links: Mapping[str, Any], threshold: float = 0.0) -> Attack:
    """Return the Attack that the sections [adversary] and [environment] define. The threshold is in seconds."""
    level = _level(options)
    own = [field.name for field in fields(LinkOptions) if field.init]
    names = [name for name in own if name != "links" or level.follows_links]
    for name in links:
        if name not in names:
            raise InputError(f"unknown option '{name}' of an attack's links; {suggest(name, names)}")
    if "target" not in options:
        raise InputError('[adversary] has no target; expected a sender\'s name, such as target = "cubic"')
    ours = {key: value for key, value in LINKS.items() if key != "buffer" or "buffer_bdp" not in links}
    link_options = LinkOptions(**{"links": "smooth", **ours, **links})
    if isinstance(level, Jitter) and not link_options.jitter.ends[0]:
        raise InputError("the jitter of a link may be 0; an adversary at 'jitter' needs more than 0")
    given = {key: options[key] for key in ("reward", "penalty", "history", "runs") if key in options}
    return Attack(target(options["target"], link_options), threshold=threshold, level=level, **given)


def _level(options: Mapping[str, Any]) -> Bandwidth | LeastRtt | Jitter:
    name = options.get("level", "environment")
    if name not in LEVELS:
        raise InputError(f"unknown level '{shown(name)}'; {suggest(str(name), LEVELS)}")
    given = {"within": options["within"]} if "within" in options else {}
    if name != "feature" and given:
        raise InputError(f"within belongs to the level 'feature'; expected none at '{name}'")
    if name == "feature" and not given:
        raise InputError("[adversary] has no within; expected by how much the least RTT may be wrong, such as 0.05")
    return LEVELS[name](**given)


def constrained(attack: Attack) -> Attack:
    """Return an Attack with CCLab's threshold: the mean queueing delay without an adversary."""
    return replace(attack, threshold=float(baseline(attack).delay.mean()))


@dataclass(frozen=True)
class Adversary:
    """A trained adversary: a checked AdversaryFile, and the Attack that the file describes."""

    file: records.AdversaryFile
    attack: Attack

    @cached_property
    def layers(self) -> policies.Layers:
        return policies.arrays(self.file.layers)

    def played(self) -> EpisodeResults:
        """Play as many episodes of the adversary as its baseline has, with the same links or the same first rates."""
        return play(
            self.attack,
            lambda state, observation, key: policies.outputs(self.layers, observation)[..., 0],
            self.attack.runs,
        )

    def trace(self) -> tuple[NDArray[Any], bool]:
        """Return the rates of the `worst` episode, (steps) in Mbit/s, and whether its delay reaches the threshold."""
        episodes = self.played()
        number, constrained = worst(episodes, self.attack.threshold)
        return episodes.rates[:, number], constrained


def load(path: str | Path) -> Adversary:
    file = records.read_record(read_text(path), records.AdversaryFile, str(path))
    with located(str(path)):
        if not 0 <= file.threshold < 1e6:
            raise InputError(f"the threshold is {file.threshold}; expected seconds, at least 0")
        made = make_attack(file.query.get("adversary", {}), file.query.get("environment", {}), file.threshold)
    policies.check_layers(file.layers, made.size, f"its observations have {made.size} numbers", str(path))
    return Adversary(file, made)
