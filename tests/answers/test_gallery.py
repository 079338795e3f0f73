"""The README's gallery: each saved trace is a violation that replays."""

import pytest

from ccmatic.answers.verification.replayer import Outcome, replay
from ccmatic.networks.traces.trace import Trace
from support import ROOT

TRACES = sorted((ROOT / "results" / "gallery").glob("*.json"))


@pytest.mark.parametrize("file", TRACES, ids=lambda file: file.stem)
def test_replays(file):
    report = replay(Trace.load(file))
    assert report.faults == () and report.outcome is Outcome.BREAKS


def test_there_is_a_gallery():
    assert len(TRACES) >= 3
