"""Search for the lawful scenarios on which code breaks rules.

The search is evolutionary, with one line of descent per rule. Each run targets one rule. For this rule, the search
either draws a fresh scenario, or changes one of the scenarios with the smallest margin so far. All rules that apply to
the scenario judge the run, so a run may advance several lines. A library for black-box optimisation would not help,
because its points have a fixed number of dimensions. Scenarios are lists of events whose premises depend on the rule.

The n-th run depends only on the seed and on the runs of earlier generations. So a search is deterministic for any
number of processes, and resumes from its file after any interruption.
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import monotonic

from ccmatic import records
from ccmatic.base import InputError, read_text, writable_folder, write_text
from ccmatic.base.workers import Team
from ccmatic.judging.expectations import every_rule
from ccmatic.judging.rules import Rule
from ccmatic.judging.scenario import Scenario, faults
from ccmatic.judging.space import change, draw
from ccmatic.judging.verdicts import Outcome, Source, opened, outcome

#: The number of runs whose scenarios are chosen together; the number of fresh scenarios per rule before any is changed;
#: the share of fresh scenarios later; and the number of scenarios that a line of descent keeps.
GENERATION, FRESH, FRESH_SHARE, KEPT = 16, 4, 0.4, 4

#: The shares of the runs that target any rule, a rule that no run breaks yet, and one of the NEAR such rules with the
#: smallest margins.
SHARES, NEAR = (0.2, 0.55, 0.25), 3

#: The number of runs after which the code runs a scenario twice, for the rule of determinism.
AGAIN = 16


#: A kept run: its margin, its number, its scenario, its value, and the instant in ns that shows the value, or None.
Kept = tuple[float, int, Scenario, float, int | None]


@dataclass
class Line:
    """The line of descent of one rule."""

    rule: Rule
    runs: int = 0  #: The number of runs that the rule judged.
    targeted: int = 0  #: The number of runs that targeted the rule.
    best: list[Kept] = field(default_factory=list)  #: The KEPT runs with the smallest margins.
    #: The same of the runs that targeted the rule. Further scenarios descend from them.
    parents: list[Kept] = field(default_factory=list)

    def add(self, number: int, scenario: Scenario, measured: tuple[float, float, int | None], is_target: bool) -> None:
        """Count a run, and keep its scenario if few have a smaller margin."""
        self.runs += 1
        margin, value, at = measured
        one = (margin, number, scenario, value, at)
        self.best = sorted([*self.best, one], key=lambda kept: kept[:2])[:KEPT]
        if is_target:
            self.parents = sorted([*self.parents, one], key=lambda kept: kept[:2])[:KEPT]

    @property
    def is_broken(self) -> bool:
        """Whether a run breaks the rule."""
        return bool(self.best) and self.best[0][0] < 0


class Search:
    """A search for the scenarios on which a subject breaks rules."""

    def __init__(
        self,
        source: Source,
        rules: Sequence[str] = (),
        expect: Sequence[str] = (),
        seed: int = 0,
        file: Path | None = None,
        seeds: Sequence[Scenario] = (),
    ) -> None:
        self.source, self.expect, self.seed, self.seeds = source, tuple(expect), seed, tuple(seeds)
        _, self.controller, self.version = opened(source)
        every = every_rule(rules, expect)
        self.names = tuple(rule.name for rule in every if rule.name not in {" ".join(e.split()) for e in expect})
        asked = [rule for rule in every if not rule.controllers or self.controller in rule.controllers]
        self.lines = {rule.name: Line(rule) for rule in asked}
        self.number = 0
        self._file = file
        self._kept = self._resumed() if file else []

    @property
    def head(self) -> records.SearchHead:
        """The first line of the search's file."""
        return records.SearchHead(
            subject=self.source.name,
            version=self.version,
            seed=self.seed,
            rules=[*self.names],
            expect=[*self.expect],
        )

    def run(
        self, seconds: float, jobs: int = 1, most: int | None = None, told: Callable[["Search"], None] = lambda _: None
    ) -> None:
        """Search for some time."""
        end = monotonic() + seconds
        with Team(jobs) as team:
            while monotonic() < end and (most is None or self.number < most):
                for number, target, scenario, result in self._generation(team, most):
                    self._learn(number, target, scenario, result)
                    told(self)

    def _generation(self, team: Team, most: int | None) -> Iterator[tuple[int, str, Scenario, Outcome]]:
        size = GENERATION if most is None else min(GENERATION, most - self.number)
        chosen = [self._choice(self.number + place, place) for place in range(size)]
        first, known = self.number, self._kept[self.number : self.number + size]
        for (target, scenario), run in zip(chosen, known, strict=False):
            if (run.target, run.scenario) != (target, scenario):
                raise InputError("the runs in it are those of another search; expected another file", str(self._file))
        for place, run in enumerate(known):
            yield first + place, *chosen[place], Outcome(run.margins, run.failure)
        rest = range(len(known), size)
        tasks = [
            (self.source, chosen[place][1], self.names, self.expect, (first + place) % AGAIN == 0) for place in rest
        ]
        for place, result in zip(rest, team.each(outcome, tasks), strict=True):
            yield first + place, *chosen[place], result

    def _choice(self, number: int, place: int) -> tuple[str, Scenario]:
        """Return the target and the scenario of a run, from the seed and the earlier generations."""
        random = Random(f"{self.seed} {number}")
        if number < len(self.seeds):
            return "seed", self.seeds[number]
        lines = [*self.lines.values()]
        open_lines = [line for line in lines if not line.is_broken]
        near = sorted((line for line in open_lines if line.best), key=lambda line: line.best[0][0])[:NEAR]
        for attempt in range(2 * len(lines)):
            [pool] = random.choices((lines, open_lines, near), SHARES)
            line = (pool or lines)[(number + attempt) % len(pool or lines)]
            scenario = self._scenario(random, line)
            if scenario is not None:
                return line.rule.name, scenario
        raise InputError("no lawful scenario meets the premises of these rules; expected other rules or --on")

    def _scenario(self, random: Random, line: Line) -> Scenario | None:
        fresh = not line.parents or line.targeted < FRESH or random.random() < FRESH_SHARE
        if fresh:
            return draw(random, line.rule, self.controller)
        _, _, parent, _, _ = random.choice(line.parents)
        return change(random, parent, line.rule, self.controller)

    def _learn(self, number: int, target: str, scenario: Scenario, result: Outcome) -> None:
        if target in self.lines:
            self.lines[target].targeted += 1
        for name, measured in result.margins.items():
            if name in self.lines:
                self.lines[name].add(number, scenario, measured, name == target)
        if number >= len(self._kept) and self._file:
            line = records.SearchRun(
                number=number,
                target=target,
                scenario=scenario,
                failure=result.failure,
                margins=result.margins,
            )
            with open(self._file, "a") as file:
                file.write(records.line(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
        self.number = number + 1

    def _resumed(self) -> list[records.SearchRun]:
        """Return the runs in the file. If an interruption cut off the last line, remove this line."""
        assert self._file is not None
        if not self._file.exists():
            writable_folder(self._file.parent)
            write_text(self._file, records.line(self.head) + "\n")
            return []
        text = read_text(self._file)
        whole = text[: text.rfind("\n") + 1]
        head, *lines = whole.splitlines() or [""]
        if records.read_record(head, records.SearchHead, str(self._file)) != self.head:
            raise InputError("another subject, version, seed, or other rules; expected another file", str(self._file))
        if whole != text:
            self._file.write_text(whole)
        runs = [records.convert(json.loads(line), records.SearchRun, str(self._file)) for line in lines]
        for run in runs:
            for fault in faults(run.scenario):
                raise InputError(fault, str(self._file))
        return runs
