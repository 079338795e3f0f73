"""Benchmarks of senders: fixed suites of held-out links, measures with confidence intervals, and a leaderboard.

See docs/reference/bench.md.
"""

from ccmatic.learning import needs  # noqa: F401
from ccmatic.learning.bench.measure import Benchmark, Learner, Suite, bench, load, measure, player

__all__ = ["Benchmark", "Learner", "Suite", "bench", "load", "measure", "player"]
