"""The question language: networks, expectations and starts as people write them (docs/reference/expectations.md)."""

from ccmatic.questions.networks import NetworkDescription, Placed, describe, place
from ccmatic.questions.question import Question, ask

__all__ = ["NetworkDescription", "Placed", "Question", "ask", "describe", "place"]
