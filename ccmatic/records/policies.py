"""The shapes of trained policies, and of what training prints."""

from typing import Any

from ccmatic.records.codec import ABSENT, Absent, Record


class LayerRecord(Record):
    """A layer of a network: for each input a row of `weights`, with a number for each output; `bias` of the outputs."""

    weights: list[list[float]]
    bias: list[float]


class TrainingLine(Record):
    """An episode of training on all links. intervals: on all links so far; seconds: that training has taken. reward,
    rtt_ms: means over the episode; utilisation: the share of what the links could serve that was acknowledged.
    deviation: of the actions, by which the policy explores."""

    episode: int
    episodes: int
    intervals: int
    seconds: float
    reward: float
    utilisation: float
    rtt_ms: float
    deviation: float


class PolicyLine(Record):
    """A policy that is trained: its file."""

    policy: str


class PolicyFile(Record, tag_field="format", tag="ccmatic policy 1", kw_only=True):
    """A trained policy. query: the sections of the file that was asked for. observe, act, reward: by name; history,
    delay, interval: of its observations (docs/learning.md). layers: of its network, first to last, with tanh between
    them. curve: an episode each. guarantees: of a policy in an envelope, what is proved of it, in sentences."""

    query: dict[str, Any]
    seed: int
    observe: str
    act: str
    reward: str
    history: int
    delay: int
    interval: str
    layers: list[LayerRecord]
    curve: list[TrainingLine]
    guarantees: list[str] | Absent = ABSENT


class AdversaryFile(Record, tag_field="format", tag="ccmatic adversary 1", kw_only=True):
    """A trained adversary. query: the sections of the file that was asked for. threshold: the least mean queueing delay
    that it has to cause, seconds. layers: of its network, first to last, with tanh between them. curve: an episode
    each."""

    query: dict[str, Any]
    seed: int
    threshold: float
    layers: list[LayerRecord]
    curve: list[TrainingLine]


class AttackLine(Record):
    """What a sender has on a trace of bandwidth, or on average where an adversary says what it measures, or what jitter
    holds. against: the sender that is to be harmed; null: none is, the mean of the baseline. seed: of that adversary,
    or null. utilisation: the share of what the link could serve that was used; delay_ms, p95_ms: of queueing, mean and
    95th percentile; lost: a share. constrained: whether the sender that is to be harmed is delayed as much as in the
    baseline, at least. file: of the trace, or null."""

    sender: str
    against: str | None
    seed: int | None
    utilisation: float
    delay_ms: float
    p95_ms: float
    lost: float
    constrained: bool
    file: str | None = None
