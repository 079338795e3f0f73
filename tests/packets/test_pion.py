"""The adaptor of pion/sctp: it fills a link, and its versions differ as upstream says."""

import pytest
from msgspec.structs import replace

from ccmatic import records
from ccmatic.judging.running import Session
from ccmatic.judging.scenario import MS, SECOND, Scenario
from ccmatic.judging.subjects import subject
from support.machine import needs_compiler, needs_go

PLAN = Scenario(duration=8 * SECOND, rate=24_000_000, rtt=40 * MS, buffer=120_000)


def run(version=None, **settings):
    with Session(subject("pion:sctp", version)) as session:
        return session.run(replace(PLAN, **settings))


@pytest.mark.slow
@needs_go
@needs_compiler
class TestRuns:
    def test_it_fills_a_link_lawfully(self):
        made = run()
        assert made.failure is None and not [*made.faults()]
        delivered = made.packets["size"][(made.packets["released"] >= 2 * SECOND)].sum()
        assert 0.8 < delivered / (6 * 3_000_000) < 1.001

    def test_limited_application(self):
        made = run(events=(records.LimitEvent(at=0, length=8 * SECOND, bits=800_000),))
        assert made.failure is None
        assert 0.7 < made.packets["size"].sum() / 800_000 < 1.2

    def test_no_recovery_ended_before_the_fix(self):
        lost = {"events": (records.LossEvent(at=2 * SECOND, packets=1),)}
        before, after = (run(version, **lost).samples for version in ("1.9.0", "1.9.2"))
        assert len({*before["window"][before["time"] > 3 * SECOND]}) == 1
        assert len({*after["window"][after["time"] > 3 * SECOND]}) > 10
