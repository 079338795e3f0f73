"""Controllers that remember: what they are written in."""

from ccmatic.language.stateful.beliefs import add_beliefs, told_apart
from ccmatic.language.stateful.reader import Declaration, is_stateful, rate_line, read_stateful

__all__ = ["Declaration", "add_beliefs", "is_stateful", "rate_line", "read_stateful", "told_apart"]
