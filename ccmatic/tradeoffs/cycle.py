"""Table 3 of the paper: the steady cycle of cc_probe_slow_k on two extreme links that the sender cannot distinguish."""

from dataclasses import dataclass
from fractions import Fraction

from ccmatic.records import CycleLine, PhaseLine
from ccmatic.tradeoffs.probe_slow import JITTER, PACKET, PROPAGATION, FluidLink, ProbeSlow, alike, run

PHASES = ("Probe", "Drain₁", "Drain₂")

#: The quantities of a phase: numbers of packets, and utilisation as a share of the link.
COUNTED = ("sent", "q_U", "serviced", "queue", "loss", "utilisation")

#: The number of simulated cycles. The table describes the last cycle, which ends in the state in which it began.
CYCLES = 3


@dataclass(frozen=True)
class Table:
    """The numbers of Table 3.

    Attributes:
        rate: The rate C_Llambda, in packets per R_m.
        probe: The probe duration T*, in R_m.
        rows: One tuple for each path and phase: the path, the phase, its duration in R_m, our entries, and the paper's
            entries (both by name).
        differs: The first instant, in R_m, at which the sender can distinguish P1, P2 and the paths between them. None
            if the sender never can.
    """

    rate: Fraction
    probe: Fraction
    rows: tuple
    differs: Fraction | None

    @property
    def same(self):
        return self.differs is None


def paths(rate, probe):
    """Return the links at the corners P1 and P2 of the belief set, and some links between them, by name.

    All links lie on the line C·T* + β = C_Llambda·(T* + D), for the rate C_Llambda in packets per R_m and T* in R_m.
    """
    fastest = rate * (probe + JITTER) / probe
    rates = {"P1": rate, **{f"between {i}": rate + (fastest - rate) * i / 4 for i in (1, 2, 3)}, "P2": fastest}
    return {name: FluidLink(C, rate * (probe + JITTER) - C * probe) for name, C in rates.items()}


def table_3(rate=100, probe=1):
    """Return the Table for D = R_m and α = 1 packet."""
    sender = ProbeSlow(lambda _: PACKET, probe, rate)
    rate, probe = sender.rate, sender.probe
    links = paths(rate, probe)
    rows = []
    for path, link in links.items():
        for _ in range(CYCLES):
            sender = ProbeSlow(lambda _: PACKET, probe, rate)
            before = link.queue
            passed = run(sender, link)
        if (link.queue, sender.queue, sender.rate) != (before, 0, rate):
            raise AssertionError("the cycle is not steady")
        if path in ("P1", "P2"):
            rows += _rows(path, link, passed, _paper(path, rate, probe))
    return Table(rate, probe, tuple(rows), alike(list(links.values()), JITTER))


def _rows(path, link, passed, paper):
    for name, each in zip(PHASES, passed, strict=True):
        duration, sent = each.phase.duration, each.phase.bytes + each.phase.more
        share = each.served / (link.rate * duration)
        counted = dict(zip(COUNTED, (sent, each.q_U, each.served, each.queue, each.lost, share), strict=True))
        yield path, name, duration, counted, paper[name]
    duration = sum(each.phase.duration for each in passed)
    served, lost = sum(each.served for each in passed), sum(each.lost for each in passed)
    counted = {"serviced": served, "loss": lost, "utilisation": served / (link.rate * duration)}
    yield path, "Cycle", duration, counted, paper["Cycle"]


def _paper(path, rate, probe):
    """Return the entries of the paper's Table 3, and the utilisation over the whole cycle from the paper's text."""
    bdp = rate * PROPAGATION
    least = probe / (probe + JITTER)
    sent = (rate * (probe + JITTER) + PACKET, PACKET, bdp - 2 * PACKET)
    q_U = (rate * JITTER + PACKET, 2 * PACKET, Fraction(0))
    loss = (PACKET, Fraction(0), Fraction(0))
    if path == "P1":
        serviced, queue = (rate * probe, rate * JITTER, bdp), (rate * JITTER, 2 * PACKET, Fraction(0))
        used = (Fraction(1), Fraction(1), Fraction(1))
    else:
        serviced, queue = (rate * (probe + JITTER), PACKET, bdp - 2 * PACKET), (Fraction(0),) * 3
        used = (Fraction(1), Fraction(0), least)
    columns = (sent, q_U, serviced, queue, loss, used)
    entries = {
        name: dict(zip(COUNTED, (column[i] for column in columns), strict=True)) for i, name in enumerate(PHASES)
    }
    return entries | {"Cycle": {"utilisation": Fraction(1) if path == "P1" else least}}


def rows(table):
    for path, phase, duration, counted, paper in table.rows:
        differs = {name: value for name, value in paper.items() if value != counted[name]}
        yield PhaseLine(table=3, path=path, phase=phase, duration=duration, **counted, paper=differs)
    yield CycleLine(3, table.same, table.rate, table.probe)


def markdown(table):
    """Return the table as Markdown. If the paper's entry differs, the table shows it in brackets."""
    return "\n".join(_markdown(table)) + "\n"


def _markdown(table):
    yield f"C_Llambda = {table.rate} packets per R_m, T* = {table.probe} R_m, D = R_m, α = 1 packet.\n"
    yield f"| path | phase | {' | '.join(COUNTED)} |"
    yield "|---|---|" + "---|" * len(COUNTED)
    for path, phase, _, counted, paper in table.rows:
        yield f"| {path} | {phase} | {' | '.join(_cell(name, counted, paper) for name in COUNTED)} |"
    yield ""
    if table.same:
        yield "On P1, P2 and three paths between, the sender sees the same, byte by byte, with jitter within 0 and D."
    else:
        yield f"The sender can tell the paths apart at {table.differs} R_m."
    yield "A cycle loses α, which is not delivered: so P1 is used for all but α/(C_Llambda·(T* + 2D)) of the time, and"
    yield "P2 for exactly T*/(T* + D) of that. (The paper's table counts the lost α as queued until Drain₂.)"


def _cell(name, counted, paper):
    if name not in counted:
        return ""
    value = counted[name]
    other = f" ({paper[name]})" if paper.get(name, value) != value else ""
    return f"{value}{other}"
