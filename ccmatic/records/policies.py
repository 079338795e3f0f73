"""The shapes of trained policies, and of what training prints."""

from typing import Any

from ccmatic.records.codec import Record


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
    them. curve: an episode each."""

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
