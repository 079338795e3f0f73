"""The forms of JSON lines about fits of packet logs, and about guarantees on paths (docs/reference/formats.md)."""

from ccmatic.records.codec import Record


class Percentiles(Record):
    """The 5th, 50th and 95th percentiles of measurements."""

    p5: float
    p50: float
    p95: float


class FitLine(Record):
    """A fitted model in the output of `fit`.

    Attributes:
        jitter: The smallest jitter D that explains the whole log, in seconds.
        rate: The link's rate C in bytes per second. Null if no finite rate gives this jitter.
        rtt: The propagation delay R_m in seconds.
        jitter_of_windows: The smallest jitter D of each window, in seconds.
        within: The share of windows whose jitter is at most k·R_m, by k.
        rate_of_windows: The rate of each window, in bytes per second.
        rate_change: The percentiles of the factor between the rates of consecutive windows.
        longest_queue: The longest queue that a delivered packet met, in bytes. Only cbr_delay has this field.
        queue_at_losses: The queues ahead of lost packets, in bytes. Only cbr_delay has this field.
        clocks: The number of clocks. With 1, the same clock recorded the sending and the delivery of packets, and the
            propagation delay is at least 0. With 2, different clocks recorded them, and the offset between the clocks
            is unknown.
        clock_offset: The number of seconds by which the receiver's clock is ahead, on the assumption that the least
            delay is R_m. Null if the log has only one clock.
    """

    model: str
    jitter: float
    rate: float | None
    log: str
    packets: int
    lost: int
    rtt: float
    window: float
    windows: int
    jitter_of_windows: Percentiles | None
    within: dict[str, float | None]
    rate_of_windows: Percentiles | None
    rate_change: Percentiles | None
    longest_queue: float | None
    queue_at_losses: Percentiles | None
    clocks: int
    clock_offset: float | None
    notes: list[str]


class ExplanationLine(Record):
    """A network of `fit --explain`.

    Attributes:
        rtt: R_m in seconds.
        most_jitter: The largest jitter, in seconds, that an explanation may have.
        explains: Whether the network explains every packet. Null if the search did not decide.
        on: The network as a text for `--on`. Null if the network does not explain the log, or if `--on` cannot express
            it.
        parameters: The parameters of the explanation. Each name ends in the unit: bytes, bits_per_second or seconds.
        share_by_burst: For random loss: the smallest share that explains the losses, by the burst in bytes.
        packet: The number, in order of sending, of the first packet that the network does not explain. Null if the
            network explains the log, or if the search did not find this packet.
        line: The place of this packet in the log.
        law: The behaviour of this packet, in words, that the network does not allow.
        note: A sentence about the answer, or an empty text.
    """

    log: str
    packets: int
    lost: int
    rtt: float
    most_jitter: float
    network: str
    explains: bool | None
    on: str | None
    parameters: dict[str, float]
    share_by_burst: list[tuple[int, float]]
    packet: int | None
    line: int | None
    law: str | None
    note: str


class FitWindowLine(Record):
    """A window of a model in the output of `fit`.

    Attributes:
        begin: The start of the window, in seconds from the first delivery.
        packets: The number of packets delivered in the window.
        jitter: The smallest jitter D that explains this window, as in FitLine.
        rate: The rate of the link in this window, as in FitLine.
    """

    model: str
    begin: float
    packets: int
    jitter: float
    rate: float | None


class GuaranteeLine(Record):
    """The guarantees that a controller's proof implies for a path.

    All optional fields are null if the proof implies nothing for the path.

    Attributes:
        proof: The name of the proof. Null if there is no proof.
        model: The model of the proof. Null if there is no proof.
        basis: A description of the source of the path's jitter and rate.
        jitter: The path's jitter, in seconds.
        rate: The path's rate, in bytes per second.
        step: The length of a step in seconds.
        utilisation: The least used share of C in each window, and so in the long run.
        inflight: The largest number of bytes in flight.
        lost_in_step: The largest number of packets lost in a step.
        lossless_buffer: The least buffer, in bytes, with which no packet is lost.
        buffer: The buffer of the proof, in bytes.
        says: The bounds, in words.
        conditions: The conditions of the bounds, in words.
        covered: Whether the path meets every condition. If it does, `missing` is empty.
        missing: The conditions that the path does not meet, as sentences.
    """

    controller: str
    proof: str | None
    model: str | None
    basis: str | None
    jitter: float | None
    rate: float | None
    step: float | None
    utilisation: float | None
    inflight: float | None
    lost_in_step: int | None
    lossless_buffer: float | None
    buffer: float | None
    says: str | None
    conditions: str | None
    covered: bool
    missing: list[str]
