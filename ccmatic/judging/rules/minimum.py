"""Rule: a window has room for two packets."""

from ccmatic.judging.rules.measures import windows
from ccmatic.judging.rules.premises import DATAGRAM
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_least
from ccmatic.judging.scenario import Scenario


def _excludes(scenario: Scenario) -> str | None:
    return None


def _measure(evidence: Evidence) -> Measured | None:
    times, values = windows(evidence.run)
    if not len(values):
        return None
    place = int(values.argmin())
    return at_least(int(values[place]) / (2 * DATAGRAM), 1, int(times[place]))


RULE = Rule(
    name="minimum",
    definition="The window always has room for two datagrams of the smallest size that QUIC allows.",
    unit="times 2 datagrams (at least 1)",
    threshold="at least 2 datagrams of 1200 bytes",
    source="RFC 9002, 7.2 and 7.6; RFC 9000, 14",
    excludes=_excludes,
    measure=_measure,
)
