"""Benchmarks of senders: fixed suites of held-out links, measures with confidence intervals, and a leaderboard.

See docs/reference/bench.md.
"""

from ccmatic.learning.bench.measure import Learner, bench, measure, player
from ccmatic.learning.bench.suites import Benchmark, Suite, load

__all__ = ["Benchmark", "Learner", "Suite", "bench", "load", "measure", "player"]
