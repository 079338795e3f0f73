"""A rule: a question about one run, with a threshold and a source."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ccmatic.judging.scenario import Scenario


class Run(Protocol):
    """The part of a recording that rules read. Instants are in ns, and amounts in bytes; -1 means unknown."""

    @property
    def scenario(self) -> Scenario:
        """The scenario of the run."""

    @property
    def packets(self) -> Any:
        """An array with a record per data packet."""

    @property
    def samples(self) -> Any:
        """An array with a record per sample of a controller's numbers."""

    @property
    def failure(self) -> str | None:
        """The failure of the code under test, or None."""


@dataclass(frozen=True)
class Evidence:
    """A run, and the other runs with which a rule compares this run.

    Attributes:
        run: The run.
        controller: The name of the subject's controller, such as `cubic`.
        undisturbed: The run of the same scenario without its events; None if no rule needs it.
        again: A second run of the same scenario; None if no rule needs it.
    """

    run: Run
    controller: str
    undisturbed: Run | None = None
    again: Run | None = None


@dataclass(frozen=True)
class Measured:
    """The result of a measurement.

    Attributes:
        value: The value, in the unit of the rule's threshold.
        margin: The distance to the threshold, as a share of the threshold. If the margin is below 0, the run breaks the
            rule.
        at: The instant in ns at which the run shows the value, or None.
    """

    value: float
    margin: float
    at: int | None = None


@dataclass(frozen=True)
class Rule:
    """A rule by which runs of code are judged.

    Attributes:
        name: The rule's name on the command line.
        definition: A sentence that says what a run has to do.
        unit: The unit of the measured value.
        threshold: The threshold.
        source: The documents from which the rule follows.
        excludes: A function that returns the reason why the rule does not apply to a scenario, or None.
        measure: A function that measures evidence. Its result is None if the run shows nothing to measure.
        needs: The names of the other runs in Evidence that `measure` reads.
        controllers: The names of the controllers to which the rule applies; empty for all controllers.
    """

    name: str
    definition: str
    unit: str
    threshold: str
    source: str
    excludes: Callable[[Scenario], str | None]
    measure: Callable[[Evidence], Measured | None]
    needs: tuple[str, ...] = ()
    controllers: tuple[str, ...] = ()

    def asked(self, scenario: Scenario, controller: str) -> str | None:
        """Return the reason why the rule does not apply to a controller on a scenario; None if the rule applies."""
        if self.controllers and controller not in self.controllers:
            return f"the rule is about {', '.join(self.controllers)}"
        return self.excludes(scenario)


def at_least(value: float, least: float, at: int | None = None) -> Measured:
    """Return the result for a value that has to be at least a threshold."""
    return Measured(value, value / least - 1, at)


def at_most(value: float, most: float, at: int | None = None) -> Measured:
    """Return the result for a value that may be at most a threshold."""
    return Measured(value, 1 - value / most, at)
