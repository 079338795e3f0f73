"""The question language: text for networks, expectations and starts (see docs/reference/expectations.md)."""

from ccmatic.questions.descriptions import NetworkDescription, describe
from ccmatic.questions.horizons import ROUNDS, least_of_period, usual_horizon, without_history
from ccmatic.questions.networks import (
    SolverNetwork,
    expectations,
    named_model,
    place,
    require_store,
    require_threshold,
    units,
)
from ccmatic.questions.question import Question, ask, beside, judge, measure, read

__all__ = [
    "ROUNDS",
    "NetworkDescription",
    "Question",
    "SolverNetwork",
    "ask",
    "beside",
    "describe",
    "expectations",
    "judge",
    "least_of_period",
    "measure",
    "named_model",
    "place",
    "read",
    "require_store",
    "require_threshold",
    "units",
    "usual_horizon",
    "without_history",
]
