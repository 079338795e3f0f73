"""The difference of two subjects on one scenario: the windows of one subject against the windows of the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.judging.recording import Recording
from ccmatic.judging.rules.measures import windows
from ccmatic.judging.rules.premises import round_trip
from ccmatic.judging.scenario import SECOND, Scenario, make_scenario
from ccmatic.judging.verdicts import Source, opened


@dataclass(frozen=True)
class Difference:
    scenario: Scenario
    #: The first instant in ns from which the windows differ by more than the tolerance for a round trip; None if they
    #: never do.
    parts: int | None
    #: The two windows in bytes at the instant `parts`; None if there is no such instant.
    windows: tuple[int, int] | None
    mean: float  #: The mean difference of the windows, as a share of the larger one.
    delivered: tuple[int, int]  #: The bytes that the receivers got in each of the two runs.

    def line(self, one: str, other: str) -> records.DifferenceLine:
        return records.DifferenceLine(
            one=one,
            other=other,
            verdict="same" if self.parts is None else "different",
            at=None if self.parts is None else self.parts / SECOND,
            windows=self.windows,
            mean=self.mean,
            delivered=self.delivered,
        )


def judge_difference(
    one: str,
    other: str,
    on: str | None = None,
    events: Sequence[str] = (),
    *,
    tolerance: float = 0.1,
    versions: tuple[str | None, str | None] = (None, None),
    **words: Any,
) -> Difference:
    """Find the instant at which the windows of two subjects begin to differ on one scenario.

    Args:
        one: A subject, as in `judge`.
        other: Another subject, such as the model of the same algorithm.
        on: As in `make_scenario`.
        events: As in `make_scenario`.
        tolerance: The largest difference that is tolerated, as a share of the larger window.
        versions: The version of each subject's stack.
        words: Further arguments of `make_scenario`.

    Raises:
        InputError: If a subject cannot be built or run, fails, or has no window.
    """
    scenario = make_scenario(on, events, **words)
    recordings = []
    for name, version in zip((one, other), versions, strict=True):
        runner, _, _ = opened(Source(name, version))
        recordings.append(runner.run(scenario))
    return _difference(recordings[0], recordings[1], tolerance)


def _difference(one: Recording, other: Recording, tolerance: float) -> Difference:
    for run in (one, other):
        if run.failure is not None:
            raise InputError(f"a run has failed: {run.failure}")
        if not len(windows(run)[0]):
            raise InputError("a subject has no window to compare; expected controllers with windows")
    scenario = one.scenario
    span = round_trip(scenario)
    instants = np.arange(span, scenario.duration, max(span // 8, 10**6))
    both = np.array([_at(run, instants) for run in (one, other)], float)
    apart = np.abs(both[0] - both[1]) / np.maximum(both.max(axis=0), 1)
    differs = apart > tolerance
    first = _lasting(differs, max(1, span // int(instants[1] - instants[0])))
    got = [int(run.packets["size"][run.packets["released"] >= 0].sum()) for run in (one, other)]
    return Difference(
        scenario,
        None if first is None else int(instants[first]),
        None if first is None else (int(both[0][first]), int(both[1][first])),
        float(apart.mean()),
        (got[0], got[1]),
    )


def _at(run: Recording, instants: np.ndarray) -> np.ndarray:
    """Return the window at each instant. Before the first known window, return this window."""
    times, values = windows(run)
    places = np.searchsorted(times, instants, side="right") - 1
    found: np.ndarray = values[np.maximum(places, 0)]
    return found


def _lasting(flags: np.ndarray, length: int) -> int | None:
    """Return the first place from which the given number of consecutive flags are true, or None."""
    streak = 0
    for place, flag in enumerate(flags.tolist()):
        streak = streak + 1 if flag else 0
        if streak == length:
            return place - length + 1
    return None
