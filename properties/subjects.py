"""The quantities of expectations, such as `utilisation`, and the units of their amounts.

Each quantity is defined once, by texts in the language of `avoids`. The quantity's formula, its monitor and its
sentence follow from these texts.
"""

from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

#: The dimensions of amounts: a share, bytes, a time, or a plain number.
SHARE, BYTES, TIME, NUMBER = "share", "bytes", "time", "number"

#: The units that every network knows, each with (dimension, size in the canonical unit, canonical unit).
UNITS = MappingProxyType(
    {
        "": (SHARE, Fraction(1), ""),
        "%": (SHARE, Fraction(1, 100), ""),
        "bdp": (BYTES, Fraction(1), "bdp"),
        "packet": (BYTES, Fraction(1), "packets"),
        "packets": (BYTES, Fraction(1), "packets"),
        "rtt": (TIME, Fraction(1), "rtt"),
    }
)

#: The size of each canonical unit of bytes, in the language of `avoids`.
IN_BYTES = {"bdp": "C * R", "packets": "alpha"}


@dataclass(frozen=True)
class Quantity:
    """The quantity of an expectation.

    Attributes:
        value: The value in the language of `avoids`, at step `t` or from step `a` to step `b`, for flow `n`.
        whole: The factor by which an amount without a unit is multiplied, such as the capacity; None if amounts need
            units.
        says: The quantity in words.
        of: The words for `whole`.
        dimension: The dimension of amounts with a unit; None if the quantity has no such amounts.
        intervals: Whether the quantity concerns intervals, from `a` to `b`, instead of steps.
        per_flow: Whether the quantity concerns each flow. Beside another controller, it concerns the first flow.
        flows: The smallest number of flows that the network must have.
        windows: Whether only window senders have the quantity.
        of_offers: Whether the quantity is limited by the bytes that applications offer.
        follows: Whether conditions concern only the step at which an interval begins, instead of each step of the
            interval.
        marks: Whether only networks that mark packets have the quantity.
        only: The condition of the intervals that count, where `to` is the share of the clause `to`; None if all count.
        relations: The relations that expectations about it may have.
    """

    value: str
    whole: str | None
    says: str
    of: str = ""
    dimension: str | None = None
    intervals: bool = False
    per_flow: bool = False
    flows: int = 1
    windows: bool = False
    of_offers: bool = False
    follows: bool = False
    marks: bool = False
    only: str | None = None
    relations: tuple[str, ...] = ("<", "<=", ">", ">=")

    @property
    def unit(self) -> str:
        """The unit of `value`: `bytes`, `rate`, `time`, or none."""
        return "rate" if self.whole == "C" else {TIME: "time", NUMBER: ""}.get(self.dimension, "bytes")


QUANTITIES = MappingProxyType(
    {
        "utilisation": Quantity(
            "S[b] - S[a]",
            "offered[b] - offered[a]",
            "bytes served",
            "of what the link could have served",
            intervals=True,
            of_offers=True,
        ),
        "share": Quantity(
            "S_f[n][b] - S_f[n][a]",
            "S[b] - S[a]",
            "bytes served",
            "of what all flows were served",
            intervals=True,
            per_flow=True,
            flows=2,
            of_offers=True,
        ),
        "loss": Quantity("L[b] - L[a]", "A[b] - A[a]", "bytes lost", "of the bytes sent", BYTES, intervals=True),
        "marked": Quantity(
            "marked[b] - marked[a]",
            "S[b] - S[a]",
            "bytes delivered with a mark",
            "of the bytes served",
            BYTES,
            intervals=True,
            marks=True,
        ),
        "queue": Quantity("A[t] - L[t] - S[t]", None, "bytes that wait", dimension=BYTES),
        "delay": Quantity("A[t] - L[t]", None, "bytes sent", "served by then", TIME, follows=True, relations=("<=",)),
        "recovery": Quantity(
            "since[b]",
            None,
            "the time from the change to the end of an interval of low utilisation",
            "",
            TIME,
            intervals=True,
            only="S[b] - S[a] < to * (offered[b] - offered[a])",
            relations=("<=",),
        ),
        "burst": Quantity(
            "A_f[n][b] - A_f[n][a]", None, "bytes sent", "", BYTES, intervals=True, per_flow=True, follows=True
        ),
        "growth": Quantity(
            "c_f[n][b] - c_f[n][a]",
            None,
            "the growth of the window",
            "",
            BYTES,
            intervals=True,
            per_flow=True,
            windows=True,
        ),
        "window": Quantity("c_f[n][t]", None, "the window", dimension=BYTES, per_flow=True, windows=True),
        "rate": Quantity("r_f[n][t]", "C", "the sending rate", "of the link's rate", per_flow=True),
        "timeout": Quantity("timeout_f[n][t]", None, "the retransmission timer fires", per_flow=True, windows=True),
        "app_limited": Quantity("app_limited_f[n][t]", None, "the application offers too little", per_flow=True),
    }
)

#: The quantities that are conditions: an expectation states that such a condition never holds.
CONDITIONS = ("timeout", "app_limited")

#: For each unit of a controller's state or belief: the dimension, and the whole of an amount without a unit.
OF_UNIT = {
    "bytes": (BYTES, None),
    "time": (TIME, None),
    "rate": (SHARE, "C"),
    "number": (NUMBER, "1"),
    "condition": (NUMBER, "1"),
}

#: The largest amount that the search for a worst case tries, by unit.
LARGEST = {"": Fraction(1), "bdp": Fraction(16), "rtt": Fraction(16), "packets": Fraction(1000)}

#: Shares of a whole. A share may exceed the whole only if the user writes the share in percent.
PARTS = ("utilisation", "share", "loss", "marked")
