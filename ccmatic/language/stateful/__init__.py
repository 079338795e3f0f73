"""The language in which controllers with state are written."""

from ccmatic.language.stateful.beliefs import add_beliefs, observations_and_beliefs
from ccmatic.language.stateful.reader import Declaration, is_stateful, rate_line, read_stateful

__all__ = ["Declaration", "add_beliefs", "is_stateful", "observations_and_beliefs", "rate_line", "read_stateful"]
