"""The named starts of executions, such as `converged`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

#: The initial window in packets (RFC 6928).
INITIAL_WINDOW = 10


@dataclass(frozen=True)
class Start:
    """The conditions under which executions begin.

    Attributes:
        says: A phrase that names the start in answers.
        means: The conditions in words; empty if the phrase already states the conditions.
        given: The conditions for all networks, in the language of `avoids`.
        windows: Further conditions for window senders.
        rates: Further conditions for rate senders.
        beliefs: A further condition for each belief of a model, by the belief's name.
    """

    says: str
    means: str = ""
    given: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    beliefs: Mapping[str, str] = field(default_factory=dict)

    def texts(self, model):
        """Return the conditions for a model, in the language of `avoids`."""
        own = {belief.name for belief in model.beliefs}
        beliefs = [text for name, text in self.beliefs.items() if name in own]
        return [*self.given, *(self.windows if model.windows else self.rates), *beliefs]


STARTS = MappingProxyType(
    {
        "any": Start("from any start"),
        "start": Start(
            "from an empty network",
            "nothing waits, nothing was lost, and a window is at most 10 packets in the first R_m",
            ("A[0] == S[0]", "L[0] == 0"),
            (f"ALLT(0, N, lambda n: ALLT(0, R+1, lambda t: c_f[n][t] <= {INITIAL_WINDOW} * alpha))",),
        ),
        "converged": Start(
            "from a converged start",
            "at most C(R_m + D) waits, no loss is undetected, and each window in the first R_m, or the first rate, is "
            "within a factor of 2 of a fair part of the link",
            ("A[0] - L[0] - S[0] <= C * (R + D)",),
            (
                "ALLT(0, N, lambda n: L_f[n][0] == Ld_f[n][0])",
                "ALLT(0, N, lambda n: ALLT(0, R+1, lambda t: C * (R + D) <= 2 * N * c_f[n][t]))",
                "ALLT(0, N, lambda n: ALLT(0, R+1, lambda t: N * c_f[n][t] <= 2 * C * (R + D)))",
            ),
            ("C <= 2 * r_f[0][0]", "r_f[0][0] <= 2 * C"),
        ),
        "informed": Start(
            "from an informed start",
            "nothing waits, no loss is undetected, a window is at most 10 packets in the first R_m, and a sender's "
            "lower bound on the link rate is at least C/2",
            ("A[0] - L[0] == S[0]", "ALLT(0, N, lambda n: L_f[n][0] == Ld_f[n][0])"),
            (f"ALLT(0, N, lambda n: ALLT(0, R+1, lambda t: c_f[n][t] <= {INITIAL_WINDOW} * alpha))",),
            beliefs={"C_L": "C <= 2 * C_L_f[0][0]"},
        ),
    }
)
