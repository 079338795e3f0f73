"""What benchmarks/studies/high_bdp.py trains and plays."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import numpy as np
import pytest

from support.benchmarks import defined_by
from support.policies import policy

pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")


def test_every_query_that_is_trained_is_read_as_it_was_written(tmp_path):
    from ccmatic.learning.agents import load

    benchmark, train = defined_by("high_bdp"), defined_by("trained")["train"]
    for name, (environment, agent) in benchmark["TRAINED"].items():
        whole = benchmark["ENVIRONMENT"] | environment, benchmark["AGENT"] | agent
        sections = dict(zip(("environment", "agent"), whole, strict=True))
        assert not list(train(tmp_path, name, sections, seeds=()))
        assert load(tmp_path / f"{name}.toml").sections == sections


def test_what_is_told_of_a_policy_is_of_a_minute_on_that_link(tmp_path):
    """One that always raises its rate by a hundredth, from 16 Mbit/s on, on R_m of 20 ms: it fills the link after 648
    intervals, and then the buffer, of which two BDPs are an RTT. What is more is lost: four fifths of the most that the
    simulator sends."""
    upwards = policy(tmp_path / "up.json", [(np.zeros((6, 1)), [1.0])], history=1)
    rate, rtt, lost, [mean, _, median, *_, peak, used, _, _] = defined_by("high_bdp")["played"]([upwards], 1)
    assert rate.shape == rtt.shape == lost.shape == (3000, 1)
    climbing = np.log(10_000 / 16) / np.log(1.01)
    assert rate[100:600:100, 0] == pytest.approx(16 * 1.01 ** np.arange(100, 600, 100), rel=0.02)
    assert median == peak == pytest.approx(10_000, rel=1e-3) and used == pytest.approx(mean / 10_000)
    assert used == pytest.approx(1 - climbing / 3000 + 1 / np.log(1.01) / 3000, abs=0.01)
    assert rtt[-1] == pytest.approx(40, rel=0.01) and not lost[:600].any() and 0.8 < lost[-1] < 0.83
