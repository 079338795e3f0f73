"""A token-bucket policer: bytes without tokens are lost, and no byte waits."""

from ccmatic.models.policer.laws import (
    BUCKET,
    MODEL,
    Policer,
    lost_when_empty,
    most_measured,
    refills_at_any_time,
    served_within_jitter,
)

__all__ = [
    "BUCKET",
    "MODEL",
    "Policer",
    "lost_when_empty",
    "most_measured",
    "refills_at_any_time",
    "served_within_jitter",
]
