"""Runs by the thousand: each window is put to the questions, and what refuses one is counted, or told."""

import random
from collections import Counter
from dataclasses import dataclass, field

from .exclusions import exclusion
from .questions import Asked, AskedForEver, Refused
from .repeats import PeriodicRun
from .runs import NETWORKS, Impossible, Run

#: Steps of a window that repeats itself beside two periods: as far back as a controller looks.
LOOKS_BACK = 12


@dataclass
class Unexplained:
    """A window that a question refuses, though nothing declared explains it."""

    network: str
    question: str
    window: object
    laws: list
    number: int

    def __str__(self):
        run, window = self.window.run, self.window
        about = f"network {self.network}, seed {run.seed}, D {run.D}, buffer {run.buffer}, MSS {run.packet}"
        lines = [f"window {self.number}: {about}, steps {window.begin} to {window.begin + window.horizon - 1}"]
        lines += [f"refused by {self.question}: {', '.join(self.laws)}"]
        lines += [f"tests {written.tests}\n{written.source}" for written in run.written]
        lines += [f"{name}: {' '.join(map(str, column))}" for name, column in window.columns.items()]
        lines += [f"waits: {[None if w is None else str(w[0]) for w in waits]}" for waits in window.waits]
        return "\n".join(lines)


@dataclass
class Campaign:
    """The counts of a campaign.

    Attributes:
        windows: The windows so far, by network and question.
        excluded: The windows that an exclusion covers, by network, question and exclusion.
        refused: The number of runs whose controller the product refuses.
        unexplained: Each Unexplained.
    """

    windows: Counter = field(default_factory=Counter)
    excluded: Counter = field(default_factory=Counter)
    refused: Counter = field(default_factory=Counter)
    reasons: Counter = field(default_factory=Counter)
    runs: Counter = field(default_factory=Counter)
    unexplained: list = field(default_factory=list)
    total: int = 0

    def table(self):
        """The counts, in lines."""
        for network, question in sorted(self.windows):
            left_out = {name: n for (of, asked, name), n in self.excluded.items() if (of, asked) == (network, question)}
            told = "; ".join(f"{name} {n}" for name, n in sorted(left_out.items()))
            count = self.windows[network, question]
            bad = sum(1 for each in self.unexplained if (each.network, each.question) == (network, question))
            told = f"; left out: {told}" if told else ""
            yield f"{network:26} {question:28} {count:8} windows, {bad} unexplained{told}"
        for network, n in sorted(self.refused.items()):
            yield f"{network:26} {n} of {self.runs[network]} runs have a controller that the product refuses"


def campaign(windows, seed=0, networks=None, each=12, solved=0, stop=1, **given):
    """Return the Campaign of at least `windows` windows, in runs from a seed on.

    Args:
        each: The windows per run.
        solved: How many windows in a thousand are also checked as formulas.
        stop: The number of unexplained windows that ends the campaign; None for no limit.
        given: As in Run.
    """
    found, rng, number = Campaign(), random.Random(seed), seed * 10**6
    names = networks or [*NETWORKS]
    while found.total < windows and (stop is None or len(found.unexplained) < stop):
        number += 1
        _one_run(found, NETWORKS[names[number % len(names)]], number, rng, each, solved, given)
    return found


def _one_run(found, network, number, rng, each, solved, given):
    found.runs[network.model] += 1
    try:
        run = Run(network, number, **given)
    except Impossible:
        return
    try:
        asked = Asked(run)
        if any("bounded" in written.source for written in run.written):
            asked.require_bounds()
        begins = list(run.begins_at())
        for begin in rng.sample(begins, min(each, len(begins))):
            look(found, asked, run.window(begin), rng.random() < solved / 1000)
    except Refused as error:
        found.refused[network.model] += 1
        found.reasons[str(error)] += 1


def cycles(runs, seed=0, networks=None, solved=0, stop=1):
    """Return the Campaign of runs on networks that repeat their choices.

    `worst --period` gets the last window of each cycle.
    """
    found, rng = Campaign(), random.Random(seed)
    names = networks or [name for name, network in NETWORKS.items() if network.windows]
    for number in range(seed * 10**6, seed * 10**6 + runs):
        network, period = NETWORKS[names[number % len(names)]], rng.choice((1, 2, 3))
        found.runs[network.model] += 1
        try:
            run = PeriodicRun(network, period, number, 2 * period + LOOKS_BACK)
            if run.repeats() and all(written.anywhere for written in run.written):
                look(found, AskedForEver(run), run.last_window(), rng.random() < solved / 1000)
        except Impossible:
            continue
        except Refused as error:
            found.refused[network.model] += 1
            found.reasons[str(error)] += 1
        if stop is not None and len(found.unexplained) >= stop:
            break
    return found


def look(found, asked, window, formulas=False):
    """Put a window to each question, and count."""
    network = window.run.network.model
    found.total += 1
    broken = asked.broken(window)
    solutions = asked.solved(window) if formulas else {}
    for question, laws in broken.items():
        found.windows[network, question] += 1
        if question in solutions and solutions[question] != (not laws):
            laws = [*laws, f"formulas {'have' if solutions[question] else 'lack'} it"]
        if laws:
            reasons = {exclusion(window, law) for law in laws}
            if not reasons <= asked.left_out(question):
                found.unexplained.append(Unexplained(network, question, window, laws, found.total))
            else:
                for reason in reasons:
                    found.excluded[network, question, reason] += 1
