"""Attacks by name, their episodes, trained adversaries, and the harm of their traces to other senders.

The files of trained adversaries contain numbers only. CCLab's Table III compares senders on traces.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array
from numpy.typing import ArrayLike, NDArray

from ccmatic import records
from ccmatic.base import InputError, located, read_text, shown, suggest, writable_folder, write_text
from ccmatic.deployment import policies
from ccmatic.learning.adversaries.attack import Attack, AttackState, Bandwidth, Jitter, LeastRtt, target
from ccmatic.learning.envs import LinkOptions
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.networks.trace_export import OPPORTUNITY
from ccmatic.records import AttackLine

Numbers: TypeAlias = NDArray[Any]

#: A function that maps an AttackState, its observation and a random key to actions, (n, 1).
Decide: TypeAlias = Callable[[AttackState, Array, Array], Array]


class EpisodeResults(NamedTuple):
    rates: Numbers  #: the rates of the links in Mbit/s, an array (steps, n)
    used: Numbers  #: the share of these rates that senders used, an array (n)
    delay: Numbers  #: the mean queueing delay of acknowledged bytes in seconds, an array (n)
    p95: Numbers  #: the 95th percentile of this delay in seconds, an array (n)
    lost: Numbers  #: the lost bytes as a share of the bytes that were acknowledged or lost, an array (n)
    held: Numbers | None = None  #: how long jitter holds bytes, as a share of D, (steps, n); None without jitter


def play(attack: Attack, decide: Decide, n: int, seed: int = 0) -> EpisodeResults:
    """Play n episodes in one compiled loop."""

    def episode(key: Array) -> tuple[tuple[Array, ...], Array | None]:
        links, state = attack.reset(key, n)

        def interval(state: AttackState, key: Array) -> tuple[AttackState, tuple[Array, ...]]:
            state, _, served = attack.watched(state, decide(state, attack.observation(state), key))
            now = state.target.knowledge.now
            waited = now.rtt - links.rtt * links.slot
            return state, (state.effect.rate / MBIT, served, now.acked[0], now.lost[0], waited[0])

        state, outcomes = jax.lax.scan(interval, state, jax.random.split(key, attack.options.steps))
        return (state.links.capacity, *outcomes), state.links.held

    results, held = jax.jit(episode)(jax.random.key(seed))
    capacity, rates, served, acked, lost, waited = map(np.asarray, results)
    heard = np.maximum(1, acked.sum(0) + lost.sum(0))
    mean = (acked * waited).sum(0) / np.maximum(1, acked.sum(0))
    used, held = served.sum(0) / capacity.sum(0), None if held is None else np.asarray(held[:: attack.options.slots])
    return EpisodeResults(rates, used, mean, _late(acked, waited), lost.sum(0) / heard, held)


def _late(acked: Numbers, waited: Numbers) -> Numbers:
    """Return the 95th percentile of the delays of each link, weighted by bytes."""
    order = np.argsort(waited, axis=0)
    by = np.cumsum(np.take_along_axis(acked, order, axis=0), axis=0)
    place = np.argmax(by >= 0.95 * by[-1], axis=0)
    late: Numbers = np.take_along_axis(waited, order, axis=0)[place, np.arange(waited.shape[1])]
    return late


def baseline(attack: Attack) -> EpisodeResults:
    return play(attack, lambda state, observation, key: attack.level.unharmed(key, len(observation)), attack.runs)


def following(attack: Attack, rates: ArrayLike) -> Decide:
    """Return a function `decide` that requests the given rates one after the other: (steps, n), in Mbit/s."""
    actions = attack.wanting(jnp.asarray(rates))
    return lambda state, observation, key: actions[state.interval][:, None]


def worst(episodes: EpisodeResults, threshold: float) -> tuple[int, bool]:
    """Find the episode with the lowest use of the link among those whose mean delay reaches a threshold, in seconds.

    Return its number, and whether any episode reaches the threshold. If none does, it is the one with the longest
    delay.
    """
    allowed = np.flatnonzero(episodes.delay >= threshold)
    if not len(allowed):
        return int(np.argmax(episodes.delay)), False
    return int(allowed[np.argmin(episodes.used[allowed])]), True


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


def attack(
    adversaries: Sequence[str | Path], senders: Sequence[str] = (), out: str | Path | None = None
) -> Iterator[AttackLine]:
    """Run trained adversaries, and test all senders on the worst trace of each adversary. This needs the extra `rl`.

    `cm.attack(["vegas-1.json"], ["cubic"])` also tests Cubic. Adversaries of other levels choose no traces. For such
    adversaries, one line describes each target without an adversary, and one line gives the mean of the episodes.

    Args:
        adversaries: Files of trained adversaries.
        senders: Further senders to test on the traces.
        out: A folder to which the traces are written, as link traces of mahimahi.

    Yields:
        A line for each pair of a sender and a trace: utilisation, queueing delay and losses.

    Raises:
        InputError: If a file is no adversary, a sender is unknown, the adversaries differ in links or level, `senders`
            or `out` is given for adversaries without traces, two traces have the same file, or the extra `rl` is not
            installed.
    """
    loaded = [load(file) for file in adversaries]
    first = loaded[0].attack
    for other in (adversary.attack for adversary in loaded):
        if (other.options, other.level) != (first.options, first.level):
            raise InputError(
                f"the adversaries against {first.target.name} and {other.target.name} are of other "
                "links or another level; expected adversaries of the same, one after the other"
            )
    if isinstance(first.level, Bandwidth):
        yield from _traces(loaded, senders, out)
    elif senders or out:
        raise InputError("adversaries at 'feature' or 'jitter' choose no traces; expected neither --against nor --out")
    else:
        yield from _measured_lines(loaded)


def _traces(
    adversaries: Sequence[Adversary], senders: Sequence[str], folder: str | Path | None
) -> Iterator[AttackLine]:
    twice = [stem for stem, count in Counter(map(_stem, adversaries)).items() if count > 1]
    if folder and twice:
        expected = "adversaries of other names of targets, or other seeds, or one after the other"
        raise InputError(f"the traces of two adversaries would go to {folder}/{twice[0]}.mahimahi; expected {expected}")
    first = adversaries[0].attack
    names = list(dict.fromkeys([adversary.attack.target.name for adversary in adversaries] + list(senders)))
    attacks = [Attack(target(name, first.options), "naive", runs=first.runs) for name in names]
    place = writable_folder(folder) if folder else None
    for name, attack in zip(names, attacks, strict=True):
        yield _line(name, baseline(attack))
    chosen = [adversary.trace() for adversary in adversaries]
    rates = np.stack([trace for trace, _ in chosen], axis=1)
    episodes = [play(*along(name, first.options, rates), len(chosen)) for name in names]
    for number, (adversary, (trace, constrained)) in enumerate(zip(adversaries, chosen, strict=True)):
        file = written(place, _stem(adversary), trace, first.options)
        for name, every in zip(names, episodes, strict=True):
            here = jax.tree.map(lambda column, number=number: column[..., number], every)
            yield _line(name, here, adversary, constrained, file)


def _stem(adversary: Adversary) -> str:
    return f"{Path(adversary.attack.target.name).stem}-{adversary.file.seed}"


def along(name: str, options: LinkOptions, rates: NDArray[Any]) -> tuple[Attack, Decide]:
    """Return the Attack on a sender, and a function that sets these rates, (steps, n) in Mbit/s, on the links.

    The Attack allows any change of the rate, because the given rates already obey the budget.
    """
    attack = Attack(target(name, replace(options, budget=options.rate.ends[1], window=1)), "naive")
    return attack, following(attack, rates)


def _measured_lines(adversaries: Sequence[Adversary]) -> Iterator[AttackLine]:
    """Yield the AttackLines of adversaries that choose measurements or jitter."""
    for attack in {adversary.attack.target.name: adversary.attack for adversary in adversaries}.values():
        yield _line(attack.target.name, baseline(attack))
    for adversary in adversaries:
        played = adversary.played()
        constrained = bool(played.delay.mean() >= adversary.attack.threshold)
        yield _line(adversary.attack.target.name, played, adversary, constrained)


def _line(
    sender: str,
    played: EpisodeResults,
    adversary: Adversary | None = None,
    constrained: bool = True,
    file: str | None = None,
) -> AttackLine:
    measures = played.used, played.delay, played.p95, played.lost
    used, delay, p95, lost = (float(np.mean(measure)) for measure in measures)
    against = None if adversary is None else adversary.attack.target.name
    seed = None if adversary is None else adversary.file.seed
    return AttackLine(sender, against, seed, used, delay * 1000, p95 * 1000, lost, constrained, file)


def written(folder: Path | None, name: str, rates: NDArray[Any], options: LinkOptions) -> str | None:
    """Write the rates as a link trace, and return the path of the file; None without a folder.

    A packet's delivery opportunity is the end of the millisecond in which the link can serve the packet's last byte.
    """
    if folder is None:
        return None
    interval = float(options.interval) * options.rtt.ends[0] / 1000
    served = np.concatenate(([0], np.cumsum(rates * MBIT * interval)))
    last_bytes = np.arange(1, int(served[-1] / OPPORTUNITY) + 1) * OPPORTUNITY
    seconds = np.interp(last_bytes, served, np.arange(len(served)) * interval)
    path = folder / f"{name}.mahimahi"
    write_text(path, "".join(f"{ms:.0f}\n" for ms in np.ceil(seconds * 1000)))
    return str(path)
