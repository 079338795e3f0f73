"""The controllers and networks whose transition systems and claims are put to the test."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ccmatic.proving.invariants import Claim
from ccmatic.questions.query import Network, Query

#: AIMD's losses are detected a step later.
ORACLE = "ccac2021:detection=oracle,timer=executions,loss=deterministic,begins=anywhere,delay=none"


@dataclass(frozen=True)
class Row:
    """A controller on a network, with the claims that invariants prove about it.

    Attributes:
        controller: The name of the controller.
        model: The model of the network.
        buffer: The buffer in C·R_m, or `infinite`.
        D: The jitter in steps.
        packets: The sizes of packets, in C·R_m.
        claims: The proved claims.
        relaxed: The laws of executions that the transition system leaves out, as docs/reports/invariants.md says. Only
            steps within such laws are steps of executions.
    """

    controller: str
    model: str
    buffer: str = "infinite"
    D: int = 1
    packets: tuple[str, ...] = ("1/20", "1/10", "1/6")
    claims: tuple[Claim, ...] = ()
    relaxed: frozenset[str] = frozenset()

    @cached_property
    def by_window(self):
        """Whether the controller sends by a window."""
        return self.query().model.windows

    def query(self, horizon=4):
        """Return the query about executions from an informed start."""
        given = f"alpha == {self.packets[0]}" if len(self.packets) == 1 else ""
        network = Network(self.model, buffer=self.buffer, horizon=horizon, jitter=self.D)
        query = Query(network, "expects", what="queue <= 1 bdp", start="informed", given=given)
        return query.of_small_packets()

    def __str__(self):
        kind = self.model.partition(":")[0]
        return f"{self.controller} on {kind}, buffer {self.buffer}, D = {self.D}"


def most(subject, amount):
    return Claim(subject, "<=", Fraction(amount))


def least(share, within=8):
    return Claim("utilisation", ">=", Fraction(share), Fraction(within))


#: Each measured delay of more steps than a window, and beliefs of the maximum of all samples.
LONG = frozenset({"C_L_moves", "C_L_is_moved", "qdel_L_measured", "qdel_L_grows_with_delay"})
DELAYS = frozenset({"Q_is_one_delay", "Q_stays_unless_served", "Q_grows_with_time", "Q_is_time_since_sent"})
LATE = frozenset({"detected_by_dupacks", "not_detected_before_dupacks"})

ROWS = (
    Row("cc_qdel", "ccac", claims=(most("queue", 7), least("1/2"), least("3/4")), relaxed=LONG | DELAYS),
    Row("cc_qdel", "ccac", D=2, claims=(most("queue", 20),), relaxed=LONG | DELAYS),
    Row("aimd_each_step", ORACLE, "1/2", claims=(most("window", "27/10"),), relaxed=frozenset({"time_has_passed"})),
    Row("aimd_each_step", ORACLE, "1", claims=(most("window", "16/5"),), relaxed=frozenset({"time_has_passed"})),
    Row("copa", "ccac_windows", claims=(most("queue", 8),), relaxed=LATE),
    Row("copa", "ccac_windows", packets=("1/10",), claims=(least("1/10"),), relaxed=LATE),
    Row("vegas", "ccac_windows", claims=(most("queue", 8),), relaxed=LATE),
    Row("bbr", "ccac_windows", "1", claims=(most("window", 10),), relaxed=LATE),
)
