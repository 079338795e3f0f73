"""The sensitivity of a finding to details that should not matter: spacings of arrivals, seeds, and the scale."""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec.structs import replace

from ccmatic import records
from ccmatic.judging.rules import Rule
from ccmatic.judging.scenario import Scenario, faults
from ccmatic.judging.verdicts import Runner, judge

#: The least spacings of arrivals in µs, the seeds, and the factors by which rates and buffers grow.
SPACINGS, SEEDS, SCALES = (10, 100, 200), (0, 1, 2, 3, 4), ((1, 2), (2, 1))


@dataclass(frozen=True)
class Variant:
    """The verdict on a variant of a scenario."""

    name: str  #: The difference from the original scenario, in words.
    verdict: str  #: `broken`, `kept` or `not applicable`.
    value: float | None  #: The measured value, or None.


def variants(scenario: Scenario, rule: Rule, runner: Runner, controller: str) -> Iterator[Variant]:
    """Yield the verdict of a rule on each lawful variant of a scenario."""
    for name, variant in _variants(scenario):
        if next(faults(variant), None) is None:
            _, [verdict] = judge(runner, controller, variant, [rule])
            value = verdict.measured.value if verdict.measured else None
            yield Variant(name, verdict.verdict, value)


def _variants(scenario: Scenario) -> Iterator[tuple[str, Scenario]]:
    for spacing in SPACINGS:
        yield f"spacing {spacing} µs", replace(scenario, spacing=spacing * 1000)
    for seed in SEEDS:
        yield f"seed {seed}", replace(scenario, seed=seed)
    for over, under in SCALES:
        yield f"rate and buffer x{over}/{under}", _scaled(scenario, over, under)


def _scaled(scenario: Scenario, over: int, under: int) -> Scenario:
    """Return a scenario whose rates and sizes are multiplied by a factor. Times do not change."""

    def times(value: int) -> int:
        return value * over // under

    def event(one: records.Event) -> records.Event:
        fields = {name: times(getattr(one, name)) for name in ("bits", "bytes") if hasattr(one, name)}
        return replace(one, **fields)

    policer = scenario.policer and records.PolicerRecord(times(scenario.policer.bits), times(scenario.policer.bucket))
    return replace(
        scenario,
        rate=times(scenario.rate),
        buffer=times(scenario.buffer),
        threshold=None if scenario.threshold is None else times(scenario.threshold),
        policer=policer,
        events=tuple(map(event, scenario.events)),
    )
