"""The forms of trained policies, and of the lines that training prints."""

from typing import Any

from ccmatic.records.codec import ABSENT, Absent, Record


class LayerRecord(Record):
    """A layer of a neural network.

    Attributes:
        weights: The weights, with a row for each input. A row has a number for each output.
        activation: The function of each output: `tanh`, `relu` or `none`. If it is absent, the last layer has `none`
            and all others have `tanh`.
    """

    weights: list[list[float]]
    bias: list[float]
    activation: str | Absent = ABSENT


class MemoryRecord(Record):
    """A gated recurrent unit (GRU), whose memory is the input of the first layer.

    The rows of `update` and `reset` are for the numbers of the observation, and then for those of the memory. Without
    activations, the four layers are the pre-activations of the gates and of the candidate.

    Attributes:
        candidate: The part of the candidate that depends on the observation.
        recalled: The part of the candidate that depends on the memory, before the reset gate multiplies it.
    """

    update: LayerRecord
    reset: LayerRecord
    candidate: LayerRecord
    recalled: LayerRecord


class TrainingLine(Record):
    """An episode of training, played on all links.

    Attributes:
        intervals: The number of monitor intervals so far, summed over all links.
        seconds: The time in seconds that training has taken so far.
        reward: The mean reward over the episode.
        utilisation: The acknowledged bytes as a share of the bytes that the links could serve.
        rtt_ms: The mean RTT over the episode, in ms.
        deviation: The standard deviation of the actions, by which the policy explores.
        held_out: The mean reward on held-out links without random deviations, if the training measured it after this
            episode.
        held_out_low: The mean reward on the same links of always sending at the lowest rates of the envelope, if the
            policy acts in an envelope.
        held_out_high: The mean reward of always sending at its highest rates.
    """

    episode: int
    episodes: int
    intervals: int
    seconds: float
    reward: float
    utilisation: float
    rtt_ms: float
    deviation: float
    seed: int | Absent = ABSENT
    held_out: float | Absent = ABSENT
    held_out_low: float | Absent = ABSENT
    held_out_high: float | Absent = ABSENT


class PolicyLine(Record):
    """The file of a trained policy."""

    policy: str


class SweepLine(Record):
    """A finished training of a sweep.

    Attributes:
        values: The values of this training, by names such as `agent.gamma`.
        policies: The file of each seed.
        held_out: The best mean reward on held-out links: the median over the seeds.
        least: The smallest of these rewards.
        most: The largest of these rewards.
    """

    values: dict[str, Any]
    policies: list[str]
    held_out: float
    least: float
    most: float


class ActInputLine(Record):
    """A line that `ccmatic act` reads. It has one of three forms: `observation`, `begin`, or a measured interval.

    Attributes:
        observation: An observation of the policy. The answer is an action.
        begin: R_m in seconds, as a handshake measures it. A flow begins. The answer is its first rate.
        packet: With `begin`, the bytes of a packet; 1500 by default.
        seconds: The length of the interval that has ended. The answer is the rate of the next interval.
        sent: The bytes sent in the interval.
        acked: The bytes acknowledged in it.
        lost: The bytes detected as lost in it.
        rtt: The mean RTT of the acknowledged bytes in seconds; absent if no byte was acknowledged.
        rtt_end: The RTT of the last of these bytes; by default `rtt`.
        marked: The bytes acknowledged with a mark; 0 by default.
    """

    observation: list[float] | Absent = ABSENT
    begin: float | Absent = ABSENT
    packet: int | Absent = ABSENT
    seconds: float | Absent = ABSENT
    sent: float | Absent = ABSENT
    acked: float | Absent = ABSENT
    lost: float | Absent = ABSENT
    rtt: float | Absent = ABSENT
    rtt_end: float | Absent = ABSENT
    marked: float | Absent = ABSENT


class ActLine(Record):
    """The answer of `ccmatic act` to a ActInputLine.

    Attributes:
        action: The action of the policy, within its bounds.
        rate: The rate of the next interval in bytes per second.
        error: The problem of a line that has no answer. The next line is read as if this one were absent.
    """

    action: float | Absent = ABSENT
    rate: float | Absent = ABSENT
    error: str | Absent = ABSENT


class BenchLine(Record):
    """The measures of a player on the held-out links of one suite of a benchmark.

    Attributes:
        benchmark: The name of the benchmark, with its version.
        score: The mean score: the used share, minus half of the mean queueing delay in R_m (which counts up to 4),
            minus twice the lost share.
        score_ci: The half-width of the 95 % confidence interval of the mean score, over the links.
        utilisation: The mean of the used share of a link. Beside another sender, it is the share of the fair half, at
            most 1.
        utilisation_ci: The half-width of its 95 % confidence interval.
        queue_rtt: The mean queueing delay of acknowledged bytes, in R_m.
        queue_rtt_ci: The half-width of its 95 % confidence interval.
        loss: The mean share of lost bytes.
        loss_ci: The half-width of its 95 % confidence interval.
    """

    benchmark: str
    player: str
    suite: str
    links: int
    score: float
    score_ci: float
    utilisation: float
    utilisation_ci: float
    queue_rtt: float
    queue_rtt_ci: float
    loss: float
    loss_ci: float


class ProvedLine(Record):
    """A round of `train --prove`.

    Attributes:
        reward: The mean reward of the last generation, less the penalty for rates outside the envelope.
        claims: The answer for each claim, up to the first that is not proved: `proved` or `unknown`.
        is_refuted: Whether an execution was replayed that breaks a claim.
    """

    round: int
    rounds: int
    reward: float
    claims: dict[str, str]
    is_refuted: bool


class PolicyFile(Record, tag_field="format", tag="ccmatic policy 1", kw_only=True):
    """A trained policy.

    Attributes:
        query: The sections of the training file.
        history: The number of vectors in an observation (docs/reference/learning.md).
        delay: The number of latest vectors that an observation omits.
        interval: The length of a monitor interval, as in the training file.
        layers: The layers of the network, from first to last, followed by their activations.
        curve: A line for each episode.
        guarantees: The proved guarantees as sentences, if the policy acts in an envelope.
        choices: The actions of a discrete choice, in ascending order. The network has a score for each of them, and the
            policy takes the action with the highest score, or the first of several such actions.
        memory: The unit with memory in front of the layers. If it is absent, the layers read the observation.
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
    choices: list[float] | Absent = ABSENT
    memory: MemoryRecord | Absent = ABSENT


class AdversaryFile(Record, tag_field="format", tag="ccmatic adversary 1", kw_only=True):
    """A trained adversary.

    Attributes:
        query: The sections of the training file.
        threshold: The least mean queueing delay that the adversary must cause, in seconds.
        layers: The layers of the network, from first to last, with tanh between them.
        curve: A line for each episode.
    """

    query: dict[str, Any]
    seed: int
    threshold: float
    layers: list[LayerRecord]
    curve: list[TrainingLine]


class AttackLine(Record):
    """Measurements of a sender under attack.

    The measurements describe one trace of link rates. If the adversary chooses the sender's observations or the jitter
    instead, the measurements are means.

    Attributes:
        against: The sender that the adversary attacks. The value is null if the line is the mean of the baseline, which
            has no adversary.
        seed: The seed of the adversary's training, or null.
        utilisation: The share of the link's possible bytes that the sender used.
        delay_ms: The mean queueing delay in ms.
        p95_ms: The 95th percentile of the queueing delay, in ms.
        lost: The lost bytes as a share of the bytes that were acknowledged or lost.
        constrained: Whether the mean delay of the attacked sender is at least the delay in the baseline.
        file: The path of the trace's file, or null.
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
