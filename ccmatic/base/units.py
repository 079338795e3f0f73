"""Units of measurement: products of powers of bytes and of seconds."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """The unit bytes**bytes_power · seconds**seconds_power.

    Units multiply and divide like the quantities that they measure.
    """

    bytes_power: int = 0
    seconds_power: int = 0

    def __mul__(self, other: "Unit") -> "Unit":
        return Unit(self.bytes_power + other.bytes_power, self.seconds_power + other.seconds_power)

    def __truediv__(self, other: "Unit") -> "Unit":
        return Unit(self.bytes_power - other.bytes_power, self.seconds_power - other.seconds_power)

    def __str__(self) -> str:
        name = _NAMES.get(self)
        if name is None:
            name = f"bytes^{self.bytes_power}·seconds^{self.seconds_power}"
        return name


NUMBER = Unit()
BYTES = Unit(1, 0)
TIME = Unit(0, 1)
RATE = BYTES / TIME

_NAMES = {NUMBER: "number", BYTES: "bytes", TIME: "time", RATE: "rate"}

#: Stands for the unit of values that are true or false.
CONDITION = "condition"

#: The constants that every controller may read: the propagation delay, the jitter bound, the largest packet.
CONSTANTS = {"R_m": TIME, "D": TIME, "MSS": BYTES}
