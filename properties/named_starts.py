"""The named starts of executions, such as `converged`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

#: The initial window in packets (RFC 6928).
INITIAL_WINDOW = 10

#: A condition on each flow n, as text in the language of `avoids`.
_EACH = "ALLT(0, N, lambda n: {})"

#: A condition on flow n in each step of the first R_m.
_FIRST = "ALLT(0, R+1, lambda t: {})"


@dataclass(frozen=True)
class Start:
    """The conditions under which executions begin, in the language of `avoids`.

    Attributes:
        says: A phrase that names the start in answers.
        means: The conditions in words; empty if the phrase already states the conditions.
        given: The conditions for all networks.
        flows: Further conditions for each flow n of window senders.
        windows: Further conditions for each flow n that sends by a window.
        paced: Further conditions for each flow n of window senders that sends at a rate alone.
        rates: Further conditions for senders with beliefs, which send at rates.
        beliefs: A further condition for each belief of a model, by the belief's name.
    """

    says: str
    means: str = ""
    given: tuple[str, ...] = ()
    flows: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    paced: tuple[str, ...] = ()
    rates: tuple[str, ...] = ()
    beliefs: Mapping[str, str] = field(default_factory=dict)

    def texts(self, model, paced: Collection[int] = ()):
        """Return the conditions for a model. `paced` has the numbers, from 1, of flows that send at a rate alone."""
        own = {belief.name for belief in model.beliefs}
        beliefs = [text for name, text in self.beliefs.items() if name in own]
        return [*self.given, *(self.of_flows(model.flows, paced) if model.windows else self.rates), *beliefs]

    def of_flows(self, flows, paced: Collection[int] = ()):
        """Return the conditions on the flows of window senders."""
        if not paced:
            return [_EACH.format(text) for text in (*self.flows, *self.windows)]
        of_flow = [(n, self.paced if n + 1 in paced else self.windows) for n in range(flows)]
        return [text.replace("[n]", f"[{n}]") for n, own in of_flow for text in (*self.flows, *own)]


STARTS = MappingProxyType(
    {
        "any": Start("from any start"),
        "start": Start(
            "from an empty network",
            "nothing waits, nothing was lost, and a window is at most 10 packets in the first R_m, or the first rate "
            "10 packets per R_m",
            ("A[0] == S[0]", "L[0] == 0"),
            windows=(_FIRST.format(f"c_f[n][t] <= {INITIAL_WINDOW} * alpha"),),
            paced=(f"r_f[n][0] * R <= {INITIAL_WINDOW} * alpha",),
        ),
        "converged": Start(
            "from a converged start",
            "at most C(R_m + D) waits, no loss is undetected, and each window in the first R_m is within a factor of 2 "
            "of its share of C(R_m + D), or the first rate of its share of C",
            ("A[0] - L[0] - S[0] <= C * (R + D)",),
            flows=("L_f[n][0] == Ld_f[n][0]",),
            windows=(
                _FIRST.format("C * (R + D) <= 2 * N * c_f[n][t]"),
                _FIRST.format("N * c_f[n][t] <= 2 * C * (R + D)"),
            ),
            paced=("C <= 2 * N * r_f[n][0]", "N * r_f[n][0] <= 2 * C"),
            rates=("C <= 2 * r_f[0][0]", "r_f[0][0] <= 2 * C"),
        ),
        "informed": Start(
            "from an informed start",
            "nothing waits, no loss is undetected, a window is at most 10 packets in the first R_m, or the first rate "
            "10 packets per R_m, and a sender's lower bound on the link rate is at least C/2",
            ("A[0] - L[0] == S[0]", _EACH.format("L_f[n][0] == Ld_f[n][0]")),
            windows=(_FIRST.format(f"c_f[n][t] <= {INITIAL_WINDOW} * alpha"),),
            paced=(f"r_f[n][0] * R <= {INITIAL_WINDOW} * alpha",),
            beliefs={"C_L": "C <= 2 * C_L_f[0][0]"},
        ),
    }
)
