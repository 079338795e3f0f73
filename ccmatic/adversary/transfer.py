"""What traces that were chosen to harm one sender do to others (CCLab's Table III)."""

from pathlib import Path

import numpy as np

from ccmatic.adversary.attack import Attack
from ccmatic.adversary.played import BASELINE, baseline, following, play, worst
from ccmatic.adversary.target import target
from ccmatic.base import writable_folder, write_text
from ccmatic.learning.capacity import MBIT
from ccmatic.records import AttackLine
from ccmatic.trace_export import OPPORTUNITY


def transfer(adversaries, senders, folder=None):
    """Yield AttackLines: of each sender on random traces, and on the worst trace of each Adversary. senders: by name;
    those attacked are among them whether they are named or not. folder: where these traces go, as link traces of
    mahimahi; None: nowhere. All Adversaries are taken to be of the same links, those of the first."""
    folder = None if folder is None else writable_folder(folder)
    asked = adversaries[0].attack.asked
    names = list(dict.fromkeys([each.attack.target.name for each in adversaries] + list(senders)))
    targets = [target(name, asked) for name in names]
    for each in targets:
        yield _line(each, baseline(each), None, None, True, None)
    for adversary in adversaries:
        attack, found = adversary.attack, adversary.traces(BASELINE)
        number, constrained = worst(found, attack.threshold)
        rates, seed = found.rates[:, number : number + 1], adversary.file.seed
        file = _written(folder, f"{Path(attack.target.name).stem}-{seed}", rates[:, 0], asked)
        for each in targets:
            tried = Attack(each, "naive")
            yield _line(each, play(tried, following(tried, rates), 1), attack.target.name, seed, constrained, file)


def _line(target, found, against, seed, constrained, file):
    used, delay, p95, lost = (float(np.mean(each)) for each in found[1:])
    return AttackLine(target.name, against, seed, used, delay * 1000, p95 * 1000, lost, constrained, file)


def _written(folder, name, rates, asked):
    """The path of the link trace of rates in Mbit/s, one for each interval: an opportunity at the millisecond in which
    its last byte can be served, rounded up."""
    if folder is None:
        return None
    interval = float(asked.interval) * asked.rtt.ends[0] / 1000
    served = np.concatenate(([0], np.cumsum(rates * MBIT * interval)))
    last_bytes = np.arange(1, int(served[-1] / OPPORTUNITY) + 1) * OPPORTUNITY
    seconds = np.interp(last_bytes, served, np.arange(len(served)) * interval)
    path = folder / f"{name}.mahimahi"
    write_text(path, "".join(f"{ms:.0f}\n" for ms in np.ceil(seconds * 1000)))
    return str(path)
