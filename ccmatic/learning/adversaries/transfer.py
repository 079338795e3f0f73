"""Traces that harm one sender, and the effect of these traces on other senders (CCLab's Table III)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ccmatic.base import InputError, writable_folder, write_text
from ccmatic.learning.adversaries.attack import Attack, Bandwidth, target
from ccmatic.learning.adversaries.trained import Adversary, Decide, EpisodeResults, baseline, following, load, play
from ccmatic.learning.envs import LinkOptions
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.networks.trace_export import OPPORTUNITY
from ccmatic.records import AttackLine


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
