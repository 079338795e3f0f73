"""FRCC in virtual time: it estimates the number of flows, which share the link."""

import numpy as np
import pytest

from ccmatic import records
from ccmatic.judging import running, subjects
from ccmatic.judging.scenario import Scenario
from support.machine import needs_compiler
from support.scenarios import MS, SECOND

pytestmark = needs_compiler

RTT, PACKET = 40 * MS, 1500


@pytest.fixture(scope="module")
def session():
    with running.Session(subjects.subject("frcc")) as session:
        yield session


def late(session, flows, controller="frcc", buffer=60):
    """The packets of the last half minute of a minute: 25 packets per R_m, flows that start 1 ms apart."""
    others = [records.FlowRecord(start=number * MS, beside=controller) for number in range(1, flows)]
    plan = Scenario(
        duration=60 * SECOND,
        rate=25 * PACKET * 8 * SECOND // RTT,
        rtt=RTT,
        buffer=25 * buffer * PACKET,
        flows=(records.FlowRecord(), *others),
    )
    packets = session.run(plan).packets
    return packets[packets["arrival"] >= 30 * SECOND]


@pytest.mark.parametrize("flows", [1, 2, 3])
def test_between_probes_the_queue_tells_the_number_of_flows(session, flows):
    """N_T = N at the fixed point, so that packets wait for θ·N = 2·N·R_m, and longer only during probes."""
    packets = late(session, flows)
    waits = (packets["admitted"] - packets["arrival"]) / RTT
    assert 0.85 * 2 * flows <= np.percentile(waits, 10) <= 1.15 * 2 * flows
    assert np.percentile(waits, 99) >= 2 * flows + 2  # a probe adds up to γ·ΔR = 4·R_m
    served = np.bincount(packets["flow"], minlength=flows)
    assert served.min() >= served.sum() / flows * 0.8


def test_losses_have_no_effect(session):
    """In a buffer of one BDP the delay stays below θ, so the sender takes the link for free, and loses packets."""
    assert late(session, 1, buffer=1)["lost"].mean() > 0.5
