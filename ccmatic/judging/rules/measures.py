"""Numbers of a run that several rules measure."""

from typing import Any

import numpy as np

from ccmatic import records
from ccmatic.judging.recording import Recording
from ccmatic.judging.rules.premises import capacity
from ccmatic.judging.scenario import SECOND

#: The step between two intervals of a sliding measure, in ns.
STEP = SECOND // 2


def arrivals(run: Recording, flow: int = 0) -> tuple[Any, Any]:
    """Return the instants in ns at which packets of a flow reach the receiver, in order, and their sizes in bytes."""
    packets = run.packets[(run.packets["flow"] == flow) & (run.packets["released"] >= 0)]
    packets = packets[np.argsort(packets["released"], kind="stable")]
    return packets["released"], packets["size"]


def delivered(run: Recording, begin: int, end: int, flow: int = 0) -> int:
    """Return the bytes of a flow that reach the receiver from `begin` to `end`, both in ns."""
    times, sizes = arrivals(run, flow)
    first, last = np.searchsorted(times, [begin, end])
    return int(sizes[first:last].sum())


def utilisation(run: Recording, begin: int, end: int) -> float:
    """Return the bytes that reach the receivers of all flows, as a share of the bytes that the link can serve.

    A byte counts at the instant one R_m before it reaches its receiver.
    """
    grown = max([0, *(e.rtt - run.scenario.rtt for e in run.scenario.events if isinstance(e, records.RttEvent))])
    got = sum(
        delivered(run, begin + delay, end + delay, number)
        for number, flow in enumerate(run.scenario.flows)
        for delay in [(flow.rtt or run.scenario.rtt) + grown]
    )
    served = capacity(run.scenario, begin, end)
    return got / served if served else 1.0


def seen_until(run: Recording) -> int:
    """Return the instant in ns until which a run shows the service of the link."""
    grown = max([run.scenario.rtt, *(e.rtt for e in run.scenario.events if isinstance(e, records.RttEvent))])
    return run.scenario.duration - max([grown, *(flow.rtt or 0 for flow in run.scenario.flows)])


def most_in_flight(run: Recording, flow: int = 0) -> tuple[Any, Any]:
    """Return when packets of a flow leave, in ns, and the most bytes in flight by then; the latter begins with a 0.

    Bytes are in flight until they reach the receiver, whose replies need no time. Lost bytes are in flight until the
    next packet reaches the receiver.
    """
    packets = run.packets[run.packets["flow"] == flow]
    ends = np.where(packets["released"] < 0, np.iinfo(np.int64).max, packets["released"])
    ends = np.minimum.accumulate(ends[::-1])[::-1]
    gone = np.concatenate(([0], np.cumsum(packets["size"], dtype=np.int64)))
    in_flight = gone[1:] - gone[np.searchsorted(ends, packets["arrival"], side="right")]
    return packets["arrival"], np.concatenate(([0], np.maximum.accumulate(in_flight)))


def windows(run: Recording, flow: int = 0) -> tuple[Any, Any]:
    """Return the instants in ns of the samples of a flow whose window is known, and these windows in bytes."""
    samples = run.samples[(run.samples["flow"] == flow) & (run.samples["window"] >= 0)]
    return samples["time"], samples["window"]


def window_at(run: Recording, instant: int, flow: int = 0) -> int | None:
    """Return the window of a flow at an instant; None if no sample shows it."""
    times, values = windows(run, flow)
    place = int(np.searchsorted(times, instant, side="right"))
    return int(values[place - 1]) if place else None


def windows_within(run: Recording, begin: int, end: int, flow: int = 0) -> Any:
    """Return the windows of a flow in bytes from `begin` to `end`, both in ns, including the window at `begin`."""
    times, values = windows(run, flow)
    first, last = np.searchsorted(times, [begin, end], side="right")
    return values[max(0, first - 1) : last]


def reduction(run: Recording, instant: int, round_trip: int) -> tuple[float, int] | None:
    """Return the factor by which a window falls after an instant, and the time in ns; None if the windows are unknown.

    The factor is the least ratio of two successive samples in three round trips.
    """
    times, values = windows(run)
    first, last = np.searchsorted(times, [instant, instant + 3 * round_trip])
    part = values[max(0, first - 1) : last].astype(float)
    if len(part) < 2 or not (part > 0).all():
        return None
    ratios = part[1:] / part[:-1]
    place = int(ratios.argmin())
    return float(ratios[place]), int(times[max(0, first - 1) + place + 1])


def lost(run: Recording, begin: int, end: int, flow: int = 0) -> int:
    """Return the number of packets of a flow that arrive at the link from `begin` to `end` and are lost."""
    packets = run.packets
    chosen = (packets["flow"] == flow) & (packets["lost"] != 0)
    return int((chosen & (packets["arrival"] >= begin) & (packets["arrival"] < end)).sum())
