"""The question language: networks, expectations and starts as people write them (docs/reference/expectations.md)."""

from ccmatic.questions.measuring import judge, measure, read
from ccmatic.questions.networks import NetworkDescription, Placed, describe, place, units
from ccmatic.questions.question import Question, ask, beside

__all__ = [
    "NetworkDescription",
    "Placed",
    "Question",
    "ask",
    "beside",
    "describe",
    "judge",
    "measure",
    "place",
    "read",
    "units",
]
