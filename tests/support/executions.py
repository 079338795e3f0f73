"""Executions from the simulator, sampled, with beliefs of their own: plain Python on a trace's columns, apart from the
engine's laws."""

from dataclasses import replace
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic.networks.simulation.paths import HIDING, JITTER, Path
from ccmatic.networks.simulation.simulator import simulate
from ccmatic.questions import query as queries

KINDS = ("ideal", "cbr_delay", "ccac", "varying")
BOUNDS = ("C_L", "C_U", "C_Llambda")

#: The most that the link's rate may be, in C, where that is not 1.
MOST = {"varying": Fraction(3, 2)}


class Sampled:
    """A trace of a simulated run, with what the run knows and the trace does not say: its true delays, and in `full`
    also those that its model does not measure."""

    def __init__(self, run, start, horizon, buffer="{}"):
        trace = run.trace(start, horizon, alpha=Fraction(1, 2 * run.path.bdp))
        beta = trace.constants.get("beta")
        self.query = queries.make(
            trace.query["model"],
            "infinite" if beta is None else buffer.format(beta),
            horizon,
            jitter=run.path.jitter,
            delay="executions",
            thresholds={"constrain_loss": "always"},
        )
        self.full = replace(trace, query=self.query.record())
        self.trace = self.full.measuring(self.query.model.measures)
        self.delays = [run.queueing_delay(t) for t in range(start, start + horizon)]
        columns = trace.columns
        self.queue = [a - lost - k for a, lost, k in zip(columns["A"], columns["L"], columns["K"], strict=True)]

    def starts(self, looseness):
        """True first values of the beliefs, looser the larger `looseness` is, from 0 to 1."""
        alpha, D = self.trace.constants["MSS"], self.trace.constants["D"]
        most = min(Fraction(1), (1 + self.trace.constants.get("beta", D + 1)) / (D + 2))
        return {
            "C_L": 1 - looseness * (1 - alpha),
            "C_U": 1 + 2 * looseness,
            "C_Llambda": most - looseness * (most - alpha),
            "q_U": self.queue[0] + looseness,
        }

    def with_beliefs(self, looseness, scale=1):
        """The trace with every belief of its model, computed here; with all bytes counted `scale` times."""
        columns = self.trace.columns
        bytes_ = {name: tuple(scale * v for v in columns[name]) for name in ("A", "S", "L", "Ld", "K", "r")}
        trace = self.full.with_columns(**bytes_)
        starts = self.starts(looseness)
        columns = beliefs(trace, {**starts, "q_U": scale * starts["q_U"]}, self.delays)
        measured = trace.measuring(self.query.model.measures)
        return measured.with_columns(**{name: columns[name] for name in self.query.units()})


def beliefs(trace, starts, delays):
    """docs/reference/encoding.md, section 6, in plain Python: the motion of each bound from its first value, and the
    states."""
    D, T = int(trace.constants["D"]), trace.horizon
    A, S, L, Ld, r, Q, F = (trace.columns[name] for name in ("A", "S", "L", "Ld", "r", "Q", "F"))
    seen = L if trace.query["model"] == "ideal" else Ld
    utilised = [Q[k + 1] > D or seen[k + 1] > seen[k] for k in range(T - 1)]
    quiet = [Ld[k + 1] == Ld[k] and not (F[k + 1] > D + 1 and S[k + 1] > S[k]) for k in range(T - 1)]
    known = {name: [first] for name, first in starts.items()}
    C_L, C_U, C_Llambda, q_U = known.values()
    for t in range(1, T):
        C_L.append(max(C_L[-1], *((S[t] - S[s]) / (t - s + D) for s in range(t))))
        busy = [s for s in range(t - D) if all(utilised[s:t])]
        C_U.append(min([C_U[-1], *((S[t] - S[s]) / (t - s - D) for s in busy)]))
        calm = [e for e in range(1, t + 1) if A[e] - L[e] <= S[t] and all(quiet[e - 1 : t])]
        C_Llambda.append(max([C_Llambda[-1], *((A[e] - A[e - 1]) / (D + 2) for e in calm)]))
        q_U.append(min(A[t] - Ld[t] - S[t], max(Fraction(0), q_U[-1] + r[t] - C_Llambda[t])))
    known["qdel_L"] = [max(Fraction(0), q - D) for q in Q]
    known["qdel_U"] = [q + 1 if q < T else max(q, most) for q, (_, most) in zip(Q, delays, strict=True)]
    return {name: tuple(column) for name, column in known.items()}


@st.composite
def executions(draw, kind):
    """A sampled run of a path of unit packets; the sender far above C, far below it, or near."""
    bdp = draw(st.integers(6, 40))
    slow, fast = st.integers(1, bdp), st.integers(bdp + 1, 10 * bdp)
    near = st.sampled_from([1, bdp - 1, bdp, bdp + 1, 2 * bdp])
    rates = draw(st.sampled_from([slow, fast, near, slow | fast | near]))
    counts = draw(st.lists(rates, min_size=10, max_size=14))
    jitter = 0 if kind == "ideal" else draw(st.integers(1, 2))
    room = draw(st.one_of(st.none(), st.integers(1, 4 * bdp)))
    run = simulate(
        Path(kind, rate=bdp, jitter=jitter, buffer=room),
        lambda seen: counts[seen.step],
        len(counts),
        seed=draw(st.integers(0, 2**32)),
        initial_queue=draw(st.sampled_from([0, 1, bdp, room or 2 * bdp, 5 * bdp])),
        jitter=draw(st.sampled_from(sorted(JITTER))),
        hiding=draw(st.sampled_from(sorted(HIDING))),
    )
    horizon = draw(st.integers(max(3, jitter + 2), 9))
    start = draw(st.integers(1, len(counts) + 1 - horizon))
    return Sampled(run, start, horizon, draw(st.sampled_from(["{}", "any", ">={}"])))


def on_executions(check, kind, number=10):
    """Run a check of a sampled run, and of how loose the first beliefs are, on many."""
    repeatably = settings(derandomize=True, deadline=None, max_examples=number)
    looseness = st.fractions(0, 1, max_denominator=8)
    repeatably(given(executions(kind), looseness)(check))()
