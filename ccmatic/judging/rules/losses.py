"""Rule: few packets are lost on a constant link."""

from ccmatic.judging.rules.measures import STEP, lost
from ccmatic.judging.rules.premises import all_of, alone, drain, lasts, lossless, only, round_trip, sawtooth, start_up
from ccmatic.judging.rules.rule import Evidence, Measured, Rule, at_most
from ccmatic.judging.scenario import SECOND, Scenario

SHARE, FREE, INTERVAL = 0.02, 20, 10 * SECOND

#: The longest round trip with a full buffer. In a longer one, the window of CUBIC, a function of time, may grow by tens
#: of packets before the sender detects a loss (RFC 9438, 4.2).
LONGEST = SECOND // 2


def _short(scenario: Scenario) -> str | None:
    """A round trip with a full buffer takes at most LONGEST."""
    full = round_trip(scenario) + drain(scenario)
    return None if full <= LONGEST else f"a round trip with a full buffer takes {full / SECOND:.2f} s, more than 0.5 s"


def _begin(scenario: Scenario) -> int:
    """Return the instant in ns by which slow start has filled the buffer, and the buffer has lost its excess."""
    return start_up(scenario) + 5 * drain(scenario)


def _measure(evidence: Evidence) -> Measured | None:
    run = evidence.run
    worst = None
    for begin in range(_begin(run.scenario), run.scenario.duration - INTERVAL + 1, STEP):
        inside = (run.packets["arrival"] >= begin) & (run.packets["arrival"] < begin + INTERVAL)
        sent = int((inside & (run.packets["flow"] == 0)).sum())
        measured = at_most(lost(run, begin, begin + INTERVAL), FREE + SHARE * sent, begin)
        worst = measured if worst is None or measured.margin < worst.margin else worst
    return worst


RULE = Rule(
    name="losses",
    definition="On a constant link without jitter, few packets are lost over every 10 s after start-up, and the "
    "time in which the buffer drains five times. Round trips with a full buffer take at most 0.5 s.",
    unit="packets",
    threshold="at most 2 % of the packets sent, and 20 packets",
    source="RFC 9743, 5.1.3; draft-ietf-ccwg-bbr, 2.7 (BBRLossThresh, 2 %)",
    excludes=all_of(alone, lossless, only(), sawtooth, _short, lasts(lambda s: _begin(s) + INTERVAL)),
    measure=_measure,
)
