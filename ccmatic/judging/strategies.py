"""Hypothesis strategies of lawful scenarios, for property-based tests of code: `@given(scenarios())`."""

from typing import Any

from ccmatic.base import InputError
from ccmatic.judging.rules import RULES
from ccmatic.judging.scenario import MS, SECOND, Scenario, faults
from ccmatic.records import AcksEvent, HoldEvent, IdleEvent, LimitEvent, LossEvent, OutageEvent, RateEvent, RttEvent

try:
    from hypothesis import strategies as st
except ImportError:
    raise InputError("strategies need Hypothesis: pip install hypothesis") from None


def paths(seconds: int = 15) -> st.SearchStrategy[Scenario]:
    """Return a strategy of scenarios of one flow without events.

    Args:
        seconds: The length of each run.
    """
    return st.builds(
        _path,
        st.just(seconds * SECOND),
        st.sampled_from([12, 2, 4, 8, 24, 48]),
        st.sampled_from([40, 5, 10, 20, 80]),
        st.sampled_from([100, 50, 200, 400]),
        st.sampled_from([0, 10, 20, 40, 80]),
    )


def _path(duration: int, mbit: int, rtt: int, share: int, jitter: int) -> Scenario:
    bdp = mbit * 10**6 * rtt * MS // (8 * SECOND)
    buffer = max(12_000, bdp * share // 100)
    return Scenario(duration=duration, rate=mbit * 10**6, rtt=rtt * MS, buffer=buffer, jitter=jitter * MS)


@st.composite
def scenarios(draw: Any, seconds: int = 15, most: int = 4, rule: str | None = None, controller: str = "") -> Scenario:
    """Return a strategy of lawful scenarios.

    Args:
        draw: Hypothesis's function, which `composite` supplies.
        seconds: The length of each run.
        most: The largest number of events.
        rule: The name of a rule that applies to all scenarios; None for any scenario.
        controller: The name of the subject's controller, because some rules apply only to some controllers.
    """
    from msgspec.structs import replace

    path = draw(paths(seconds))
    events = draw(st.lists(_events(path), max_size=most))
    made: Scenario = replace(path, events=tuple(sorted(events, key=lambda event: event.at)))
    lawful = next(faults(made), None) is None
    asked = rule is None or RULES[rule].asked(made, controller) is None
    return made if lawful and asked else draw(st.nothing())


def _events(path: Scenario) -> st.SearchStrategy[Any]:
    """Return a strategy of events on a path."""
    at = st.integers(0, path.duration // MS - 1).map(lambda ms: ms * MS)
    length = st.integers(1, 3000).map(lambda ms: ms * MS)
    kinds = [
        st.builds(LossEvent, at, st.integers(1, 10)),
        st.builds(IdleEvent, at, length),
        st.builds(LimitEvent, at, length, st.integers(1, 50).map(lambda share: path.rate * share // 100)),
        st.builds(OutageEvent, at, length),
        st.builds(RateEvent, at, st.sampled_from([1, 2, 16, 32]).map(lambda part: path.rate * part // 8)),
        st.builds(RttEvent, at, st.sampled_from([5, 15, 20, 40]).map(lambda part: path.rtt * part // 10)),
        st.builds(AcksEvent, at, length, lose=st.integers(2, 10)),
    ]
    if path.jitter:
        held = st.integers(1, path.jitter // MS).map(lambda ms: ms * MS)
        kinds = [st.builds(HoldEvent, at, held), *kinds]
    return st.one_of(kinds)
