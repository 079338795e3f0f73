"""The options of CCAC2021's path. Values are the words in models' names, as in `ccac2021:waste=constant-rate`."""

from enum import Enum


class Waste(Enum):
    """When the link wastes tokens.

    COMPOSING: if no more bytes were admitted than there are tokens. NON_COMPOSING: if no more were admitted than
    served, up to a slack. CONSTANT_RATE: it wastes all tokens that are not used at once.
    """

    COMPOSING = "composing"
    NON_COMPOSING = "non-composing"
    CONSTANT_RATE = "constant-rate"


class Slack(Enum):
    """How many bytes may wait while a link that does not compose wastes tokens."""

    NONE = "none"
    LESS_THAN_PACKET = "less-than-packet"
    LESS_THAN_HALF_PACKET = "less-than-half-packet"
    MORE_THAN_PACKET = "more-than-packet"


class Loss(Enum):
    """What a full buffer loses. FREE: any part of what arrives. DETERMINISTIC: exactly what does not fit."""

    FREE = "free"
    DETERMINISTIC = "deterministic"


class DelayMeasurement(Enum):
    """How delay is measured.

    PUBLISHED: of the last byte served, unknown for bytes that waited at first. CONSISTENT: it grows by at most a step
    per step. OPEN_AT_FIRST: bytes that waited at first may have any delay, also longer than the trace, or an unknown
    one. UNMEASURED: senders do not measure it. PER_FLOW: each flow measures its own bytes, and all bytes leave in the
    order in which they came.
    """

    PUBLISHED = "published"
    CONSISTENT = "consistent"
    OPEN_AT_FIRST = "open"
    UNMEASURED = "none"
    PER_FLOW = "own"


class JitterBox(Enum):
    """What jitter delays. SHARED: all flows alike. PER_FLOW: each flow by itself, behind a link of constant rate."""

    SHARED = "link"
    PER_FLOW = "own"
