"""The probing rules of deployed controllers, as loss allowances.

A rule that raises the rate from C to C + δ(C) in a round trip ramps up like F for the allowance f(C) = β_s·δ(C). Any
controller that is guaranteed to ramp up at least as fast risks at least this loss. So f(C) is the price of this speed
for any controller. The loss of the controller with this rule may differ from f(C).
"""

from dataclasses import dataclass

from ccmatic.tradeoffs.allowances.allowance import Allowance

#: R_m in seconds. Only CUBIC needs this value, because its window depends on the time since the last loss.
R_M_SECONDS = "1/25"


@dataclass(frozen=True)
class Rule:
    """The probing rule of a controller.

    Attributes:
        name: The name of the controller.
        increase: The increase δ(C) in packets per R_m, as an expression in C and C_0.
        every: The number of round trips per probe.
        source: The document that defines the rule.
    """

    name: str
    increase: str
    every: int
    source: str

    def allowance(self, path):
        """Return the allowance f = β_s·δ."""
        increase = self.increase.replace("C_0", f"({path.start})")
        return Allowance(self.name, Allowance.parse(increase).f * Allowance.parse(str(path.buffer_time)).f)

    def round_trips(self, probes):
        """Return the number of round trips that the rule needs for a number of probes.

        If this number is None, return None.
        """
        return probes and self.every * (probes - 1) + 1


#: The number k of round trips after which CUBIC has the rate C, if its last loss was at the rate C_0. After k round
#: trips without loss, the rate is C_0 plus the larger of k and 0.4·(k·R_m)³.
_PROBES = f"min(C - C_0, ((C - C_0)/0.4)**(1/3)/({R_M_SECONDS}))"

RULES = (
    Rule("AIMD (Reno)", "1", 1, "one packet an R_m: RFC 5681, section 3.1"),
    Rule(
        "CUBIC, R_m = 40 ms",
        f"max({_PROBES} + 1, 0.4*(({_PROBES} + 1)*{R_M_SECONDS})**3) - (C - C_0)",
        1,
        "W_max + 0.4·t³, or a packet an R_m where that is more: RFC 9438, sections 4.2 and 4.3",
    ),
    Rule(
        "BBR (probing)",
        "C/4",
        8,
        "a pacing gain of 5/4 in one of eight R_m: draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.4",
    ),
)
