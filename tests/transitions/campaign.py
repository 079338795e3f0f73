"""Executions by the thousand: each step is a step of the transition system, and no proved claim is broken."""

import random
from dataclasses import dataclass, field

from .relation import relation_of
from .runs import Choices, Subject, run

#: The executions of a search for a violation of one claim. Each one is the worst so far, with a few other choices.
CLIMB = 40


@dataclass
class Counted:
    """The outcome of a campaign.

    Attributes:
        mapped: The number of executions whose steps were compared with the transition system.
        steps: The number of these steps.
        random: The number of random executions that were compared with each claim.
        adversarial: The number of executions of searches for a violation.
        broken: What was broken, as text.
        worst: The worst value of each claim.
    """

    mapped: int = 0
    steps: int = 0
    random: int = 0
    adversarial: int = 0
    broken: list = field(default_factory=list)
    worst: dict = field(default_factory=dict)

    def __str__(self):
        worst = "; ".join(f"{claim}: {float(value):.4g} at worst" for claim, value in self.worst.items())
        mapped = f"{self.mapped} executions with {self.steps} steps mapped, " if self.mapped else ""
        counts = f"{mapped}{self.random} random ones for each claim, {self.adversarial} adversarial ones"
        return f"{counts}, {len(self.broken)} broken ({worst})"


def campaign(row, executions, seed=0, relation=None):
    """Return the Counted of a row.

    Half of the random executions are informed. They are compared with the claims, too. For each claim, half as many
    executions are adversarial.

    Args:
        row: The Row.
        executions: The number of random executions.
        seed: The seed of the first execution.
        relation: The Relation; by default, that of the row's transition system.
    """
    counted, subject, relation = Counted(), Subject.of(row), relation or relation_of(row)
    numbers = iter(range(seed, seed + 100 * executions))
    while counted.mapped < executions:
        informed, choices = counted.mapped % 2 == 0, Choices.drawn(next(numbers))
        made = run(row, subject, choices, informed)
        if made is None:
            continue
        counted.mapped += 1
        counted.steps += made.steps - relation.back
        counted.broken += [f"{row}: step {t} by {choices}: {text}" for t, text in relation.broken(made)]
        if informed:
            counted.random += 1
            for claim in row.claims:
                _judge(row, claim, choices, made, counted)
    for claim in row.claims:
        _search(row, subject, claim, executions // 2, numbers, counted)
    return counted


def claims_alone(row, executions, seed=0):
    """Return the Counted of a row whose executions are compared with its claims alone, not with a transition system.

    Args:
        row: The Row.
        executions: The number of executions for each claim: one half is random, the other one adversarial.
        seed: The seed of the first execution.
    """
    counted, subject, numbers = Counted(), Subject.of(row), iter(range(seed, seed + 100 * executions))
    while counted.random < executions // 2:
        choices = Choices.drawn(next(numbers))
        made = run(row, subject, choices)
        if made is not None:
            counted.random += 1
            for claim in row.claims:
                _judge(row, claim, choices, made, counted)
    for claim in row.claims:
        _search(row, subject, claim, executions // 2, numbers, counted)
    return counted


def _search(row, subject, claim, executions, numbers, counted):
    """Search for executions that break a claim, each climb from random choices."""
    left = executions
    while left > 0:
        best, worst = Choices.drawn(next(numbers)), None
        rng = random.Random(best.seed)
        for _ in range(min(CLIMB, left)):
            changed = best if worst is None else best.changed(rng)
            made = run(row, subject, changed)
            if made is None:
                if worst is None:
                    break
                continue
            value = _judge(row, claim, changed, made, counted)
            counted.adversarial += 1
            left -= 1
            if worst is None or value >= worst:
                best, worst = changed, value


def _judge(row, claim, choices, made, counted):
    """Return how bad an execution is for a claim, and count it."""
    worst = badness(claim, made)
    counted.worst[claim] = max(worst, counted.worst.get(claim, worst))
    if worst > limit(claim):
        counted.broken.append(f"{row}: {claim} by {choices}")
    return worst


def limit(claim):
    """Return the largest badness that a claim allows."""
    return claim.within if claim.subject == "utilisation" else claim.amount


def badness(claim, execution):
    """Return the largest value of a bounded quantity; of a utilisation, the bytes by which an interval falls short."""
    c = execution.columns
    if claim.subject == "queue":
        return max(A - L - S for A, L, S in zip(c["A"], c["L"], c["S"], strict=True))
    if claim.subject == "window":
        return max(c["cwnd"])
    short = worst = 0
    for before, after in zip(c["S"], c["S"][1:], strict=False):
        short = max(0, short + claim.amount - (after - before))
        worst = max(worst, short)
    return worst
