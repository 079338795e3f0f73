"""The shapes of trained policies, and of the lines that training prints."""

from typing import Any

from ccmatic.records.codec import ABSENT, Absent, Record


class LayerRecord(Record):
    """A layer of a neural network.

    Attributes:
        weights: A row for each input, with a number for each output.
        bias: A number for each output.
    """

    weights: list[list[float]]
    bias: list[float]


class TrainingLine(Record):
    """An episode of training on all links.

    Attributes:
        intervals: The number of monitor intervals so far, on all links together.
        seconds: The time that training has taken.
        reward: The mean over the episode.
        utilisation: The acknowledged share of the bytes that the links could serve.
        rtt_ms: The mean over the episode.
        deviation: The standard deviation of the actions, by which the policy explores.
    """

    episode: int
    episodes: int
    intervals: int
    seconds: float
    reward: float
    utilisation: float
    rtt_ms: float
    deviation: float


class PolicyLine(Record):
    """The file of a trained policy."""

    policy: str


class PolicyFile(Record, tag_field="format", tag="ccmatic policy 1", kw_only=True):
    """A trained policy.

    Attributes:
        query: The sections of the training file.
        observe: The name of the observations.
        act: The name of the actions.
        reward: The name of the reward.
        history: The number of vectors in an observation (docs/reference/learning.md).
        delay: How many of the latest vectors an observation omits.
        interval: The length of a monitor interval, as in the training file.
        layers: The layers of the network, first to last, with tanh between them.
        curve: A line for each episode.
        guarantees: For a policy in an envelope, its proved guarantees in sentences.
    """

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
    """A trained adversary.

    Attributes:
        query: The sections of the training file.
        threshold: The least mean queueing delay that the adversary must cause, in seconds.
        layers: The layers of the network, first to last, with tanh between them.
        curve: A line for each episode.
    """

    query: dict[str, Any]
    seed: int
    threshold: float
    layers: list[LayerRecord]
    curve: list[TrainingLine]


class AttackLine(Record):
    """Measurements of a sender under attack.

    They describe one trace of bandwidth. If the adversary chooses the sender's observations or the jitter instead, they
    are means.

    Attributes:
        against: The sender that the adversary attacks; null if the line is the mean of the baseline, without an
            adversary.
        seed: The seed of the adversary, or null.
        utilisation: The used share of the bytes that the link could serve.
        delay_ms: The mean queueing delay.
        p95_ms: The 95th percentile of the queueing delay.
        lost: The share of lost bytes among the bytes acknowledged or lost.
        constrained: Whether the attacked sender is delayed at least as much as in the baseline.
        file: The file of the trace, or null.
    """

    sender: str
    against: str | None
    seed: int | None
    utilisation: float
    delay_ms: float
    p95_ms: float
    lost: float
    constrained: bool
    file: str | None = None
