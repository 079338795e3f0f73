"""How real controllers probe for bandwidth, as allowances.

A rule that raises the rate from C to C + δ(C) in a round trip ramps up as F does for the allowance f(C) = β_s·δ(C). So
no controller is sure to ramp up as fast unless it risks as much: f(C) is the least loss that this speed costs, not what
the controller itself loses.
"""

from dataclasses import dataclass

from ccmatic.tradeoffs.allowances.allowance import Allowance

#: R_m in seconds, for CUBIC, which grows with the clock.
R_M_SECONDS = "1/25"


@dataclass(frozen=True)
class Rule:
    """name; increase: δ(C), packets per R_m, as an expression in C and C_0; every: it probes in one of so many round
    trips; source: where the rule stands."""

    name: str
    increase: str
    every: int
    source: str

    def allowance(self, path):
        """f = β_s·δ."""
        increase = self.increase.replace("C_0", f"({path.start})")
        return Allowance(self.name, Allowance.parse(increase).f * Allowance.parse(str(path.buffer_time)).f)

    def round_trips(self, probes):
        """How many the rule needs for so many probes, from its first on; None for None."""
        return probes and self.every * (probes - 1) + 1


#: CUBIC after k round trips without loss, from where it last lost: C_0 + the larger of k and 0.4·(k·R_m)³.
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
