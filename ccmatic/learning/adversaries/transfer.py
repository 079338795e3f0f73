"""What traces that were chosen to harm one sender do to others (CCLab's Table III)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from ccmatic.base import InputError, writable_folder, write_text
from ccmatic.learning.adversaries.attack import Attack
from ccmatic.learning.adversaries.levels import Bandwidth
from ccmatic.learning.adversaries.played import Decide, Played, baseline, following, play
from ccmatic.learning.adversaries.target import target
from ccmatic.learning.adversaries.trained import Adversary
from ccmatic.learning.envs import LinkOptions
from ccmatic.learning.envs.capacity import MBIT
from ccmatic.records import AttackLine
from ccmatic.trace_export import OPPORTUNITY


def transfer(
    adversaries: Sequence[Adversary], senders: Sequence[str], folder: str | Path | None = None
) -> Iterator[AttackLine]:
    """Yield AttackLines: of each sender on random traces, and on the worst trace of each Adversary. senders: by name;
    those attacked are among them whether they are named or not. folder: where these traces go, as link traces of
    mahimahi; None: nowhere. Of Adversaries that choose no traces: of each target unharmed, and the mean of what they
    do. Raises InputError where the Adversaries are not of the same links and level, where others than their targets
    are to be tried on what they choose, or where two of their traces would go to one file."""
    first = adversaries[0].attack
    for each in adversaries:
        if (each.attack.options, each.attack.level) != (first.options, first.level):
            raise InputError(
                f"the adversaries against {first.target.name} and {each.attack.target.name} are of other "
                "links or another level; expected adversaries of the same, one after the other"
            )
    if isinstance(first.level, Bandwidth):
        yield from _traces(adversaries, senders, folder)
    elif senders or folder:
        raise InputError("adversaries at 'feature' or 'jitter' choose no traces; expected neither --against nor --out")
    else:
        yield from _measured(adversaries)


def _traces(
    adversaries: Sequence[Adversary], senders: Sequence[str], folder: str | Path | None
) -> Iterator[AttackLine]:
    """Of adversaries that choose traces."""
    twice = [stem for stem, count in Counter(map(_stem, adversaries)).items() if count > 1]
    if folder and twice:
        expected = "adversaries of other names of targets, or other seeds, or one after the other"
        raise InputError(f"the traces of two adversaries would go to {folder}/{twice[0]}.mahimahi; expected {expected}")
    place = writable_folder(folder) if folder else None
    first = adversaries[0].attack
    names = list(dict.fromkeys([each.attack.target.name for each in adversaries] + list(senders)))
    for name in names:
        yield _line(name, baseline(Attack(target(name, first.options), "naive", runs=first.runs)))
    chosen = [each.trace() for each in adversaries]
    rates = np.stack([trace for trace, _ in chosen], axis=1)
    episodes = [play(*along(name, first.options, rates), len(chosen)) for name in names]
    for number, (adversary, (trace, constrained)) in enumerate(zip(adversaries, chosen, strict=True)):
        file = written(place, _stem(adversary), trace, first.options)
        for name, every in zip(names, episodes, strict=True):
            here = jax.tree.map(lambda column, number=number: column[..., number], every)
            yield _line(name, here, adversary, constrained, file)


def _stem(adversary: Adversary) -> str:
    """Of the file of its trace."""
    return f"{Path(adversary.attack.target.name).stem}-{adversary.file.seed}"


def along(name: str, options: LinkOptions, rates: NDArray[Any]) -> tuple[Attack, Decide]:
    """The Attack on a sender, by its name, and what decides in it, on links at given rates, (steps, n) Mbit/s, one
    after the other, whatever they change by: a trace keeps the budget by itself."""
    attack = Attack(target(name, replace(options, budget=options.rate.ends[1], window=1)), "naive")
    return attack, following(attack, rates)


def _measured(adversaries: Sequence[Adversary]) -> Iterator[AttackLine]:
    """Of adversaries that choose what is measured or held back."""
    for attack in {each.attack.target.name: each.attack for each in adversaries}.values():
        yield _line(attack.target.name, baseline(attack))
    for adversary in adversaries:
        played = adversary.played()
        constrained = bool(played.delay.mean() >= adversary.attack.threshold)
        yield _line(adversary.attack.target.name, played, adversary, constrained)


def _line(
    sender: str, played: Played, adversary: Adversary | None = None, constrained: bool = True, file: str | None = None
) -> AttackLine:
    used, delay, p95, lost = (float(np.mean(each)) for each in (played.used, played.delay, played.p95, played.lost))
    against = None if adversary is None else adversary.attack.target.name
    seed = None if adversary is None else adversary.file.seed
    return AttackLine(sender, against, seed, used, delay * 1000, p95 * 1000, lost, constrained, file)


def written(folder: Path | None, name: str, rates: NDArray[Any], options: LinkOptions) -> str | None:
    """The path of the link trace of rates in Mbit/s, one for each interval: an opportunity at the millisecond in which
    its last byte can be served, rounded up."""
    if folder is None:
        return None
    interval = float(options.interval) * options.rtt.ends[0] / 1000
    served = np.concatenate(([0], np.cumsum(rates * MBIT * interval)))
    last_bytes = np.arange(1, int(served[-1] / OPPORTUNITY) + 1) * OPPORTUNITY
    seconds = np.interp(last_bytes, served, np.arange(len(served)) * interval)
    path = folder / f"{name}.mahimahi"
    write_text(path, "".join(f"{ms:.0f}\n" for ms in np.ceil(seconds * 1000)))
    return str(path)
