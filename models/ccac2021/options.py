"""The options of CCAC2021's path. Option values are the words in models' names: `ccac2021:waste=constant-rate`."""

from enum import Enum


class Waste(Enum):
    """The situations in which the link wastes tokens.

    Attributes:
        COMPOSING: The link may waste tokens if the admitted bytes do not exceed the tokens.
        NON_COMPOSING: The link may waste tokens if the admitted bytes exceed the served bytes by at most a slack.
        CONSTANT_RATE: The link wastes all tokens that are not used at once.
    """

    COMPOSING = "composing"
    NON_COMPOSING = "non-composing"
    CONSTANT_RATE = "constant-rate"


class Slack(Enum):
    """The most bytes that may wait while the link wastes tokens, if the waste is NON_COMPOSING."""

    NONE = "none"
    LESS_THAN_PACKET = "less-than-packet"
    LESS_THAN_HALF_PACKET = "less-than-half-packet"
    MORE_THAN_PACKET = "more-than-packet"


class Loss(Enum):
    """The bytes that a full buffer loses.

    Attributes:
        FREE: Any part of the arriving bytes.
        DETERMINISTIC: Exactly the bytes that do not fit.
    """

    FREE = "free"
    DETERMINISTIC = "deterministic"


class DelayMeasurement(Enum):
    """The method by which senders measure delay.

    Attributes:
        PUBLISHED: Senders measure the delay of the last byte served. The delay of the initial bytes is unknown.
        CONSISTENT: Senders measure a delay that grows by at most one step per step.
        OPEN_AT_FIRST: The initial bytes may have any delay, even a delay longer than the trace, or an unknown delay.
        UNMEASURED: Senders do not measure delay.
        PER_FLOW: Each flow measures the delay of its own bytes, and all bytes leave in the order in which they arrived.
    """

    PUBLISHED = "published"
    CONSISTENT = "consistent"
    OPEN_AT_FIRST = "open"
    UNMEASURED = "none"
    PER_FLOW = "own"


class JitterBox(Enum):
    """The flows to which one jitter applies.

    Attributes:
        SHARED: All flows have the same jitter.
        PER_FLOW: Each flow has its own jitter, behind a link of constant rate.
    """

    SHARED = "link"
    PER_FLOW = "own"
