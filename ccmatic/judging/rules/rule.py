"""A rule: a question about one run, with a threshold and a source."""

from collections.abc import Callable
from dataclasses import dataclass

from ccmatic.judging.recording import Recording
from ccmatic.judging.scenario import Scenario


@dataclass(frozen=True)
class Evidence:
    run: Recording
    controller: str  #: The name of the subject's controller, such as `cubic`.
    undisturbed: Recording | None = None  #: The run of the same scenario without its events; None if no rule needs it.
    again: Recording | None = None  #: A second run of the same scenario; None if no rule needs it.


@dataclass(frozen=True)
class Measured:
    value: float  #: The value, in the unit of the rule's threshold.
    #: The distance to the threshold, as a share of the threshold. If the margin is below 0, the run breaks the rule.
    margin: float
    at: int | None = None  #: The instant in ns at which the run shows the value, or None.


@dataclass(frozen=True)
class Rule:
    name: str  #: The rule's name on the command line.
    definition: str  #: A sentence that says what a run has to do.
    unit: str  #: The unit of the measured value.
    threshold: str
    source: str  #: The documents from which the rule follows.
    #: Functions, each of which returns a reason why the rule does not apply to a scenario, or None.
    premises: tuple[Callable[[Scenario], str | None], ...]
    #: A function that measures evidence. Its result is None if the run shows nothing to measure.
    measure: Callable[[Evidence], Measured | None]
    needs: tuple[str, ...] = ()  #: The names of the other runs in Evidence that `measure` reads.
    #: The names of the controllers to which the rule applies; empty for all controllers.
    controllers: tuple[str, ...] = ()

    def asked(self, scenario: Scenario, controller: str) -> str | None:
        """Return the reason why the rule does not apply to a controller on a scenario; None if the rule applies."""
        if self.controllers and controller not in self.controllers:
            return f"the rule is about {', '.join(self.controllers)}"
        return next(filter(None, (premise(scenario) for premise in self.premises)), None)


def at_least(value: float, least: float, at: int | None = None) -> Measured:
    """Return the result for a value that has to be at least a threshold."""
    return Measured(value, value / least - 1, at)


def at_most(value: float, most: float, at: int | None = None) -> Measured:
    """Return the result for a value that may be at most a threshold."""
    return Measured(value, 1 - value / most, at)
