"""Packet-level runs of exported controllers on the grid of links of section 6.4 and Appendix H.

A run is simulated or emulated. The simulator calls the exported C code. The emulator runs on this machine, where
network stacks of the kernel can run for comparison.

A controller of beliefs, exported to C, takes a step every R_m + D, and so does the simulation. The jitter in the
controller's model covers the path's propagation delay R_m. If the path aggregates acknowledgements, this jitter also
covers the additional delay of up to D. A controller with state takes a step every R_m.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

from ccmatic import records
from ccmatic.base import InputError, counted, definitions, parse_json, read_text, writable_folder
from ccmatic.base.workers import Team
from ccmatic.deployment import exporting
from ccmatic.deployment.emulation import (
    RECORD,
    SECOND,
    Emulation,
    Link,
    of_texts,
    request,
    run_flows,
    summed_up,
    warm_up,
)
from ccmatic.networks.simulation import NEVER, Path, Simulation, WindowFlow
from ccmatic.proving import guarantees
from ccmatic.records import ResultRecord
from ccmatic.worlds.runtime import Library, StatefulSender

#: The size of a packet on the paper's grid, in bytes.
PACKET = 1500

#: The paper's rates in Mbit/s, R_m in ms, and buffers in BDPs (C·R_m).
RATES, RTTS = (24, 48, 96), (20, 40, 80)
BUFFERS = tuple(Fraction(2) ** power for power in range(-4, 5))

#: `none`: the path only adds its propagation delay. `aggregation`: the path also aggregates acknowledgements for up
#: to D = R_m.
JITTERS = ("none", "aggregation")

#: Durations in seconds: the length of a run, its warm-up, and the time between changes of the rate.
SECONDS, WARM_UP, BETWEEN = 60, 20, 20

#: The length in seconds of a run on a real network stack.
REAL_SECONDS = 20


@dataclass(frozen=True)
class Scenario:
    rates: tuple  #: the rates of the link in Mbit/s. If there are several rates, each one lasts BETWEEN seconds
    rtt: int  #: R_m in ms
    buffer: Fraction  #: the buffer in C·R_m at the largest rate
    jitter: str
    stack: str = "simulated"  #: `simulated` or `real`

    @property
    def name(self):
        rates = "-".join(map(str, self.rates))
        return f"{self.stack} {rates}mbit {self.rtt}ms {self.buffer}bdp {self.jitter}"

    @property
    def buffer_bytes(self):
        return int(_bytes(max(self.rates)) * Fraction(self.rtt, 1000) * self.buffer)


def grid():
    """Yield the paper's grid, with and without jitter; then links whose rate doubles or halves (Figures 18 and 19)."""
    for rate, rtt, buffer, jitter in product(RATES, RTTS, BUFFERS, JITTERS):
        yield Scenario((rate,), rtt, buffer, jitter)
    for rates in ((24, 48, 96), (96, 48, 24)):
        yield Scenario(rates, 80, Fraction(1), "none")


def real_grid():
    """Yield the part of the grid that the emulator can run within minutes."""
    for rate, buffer, jitter in product((24, 96), (Fraction(1, 4), Fraction(2), Fraction(8)), JITTERS):
        yield Scenario((rate,), 40, buffer, jitter, "real")


def run(sender, scenario):
    return ResultRecord(
        sender=sender,
        scenario=scenario.name,
        stack=scenario.stack,
        rates_mbit=list(scenario.rates),
        R_m_ms=scenario.rtt,
        buffer_bdp=float(scenario.buffer),
        jitter=scenario.jitter,
        **(simulated if scenario.stack == "simulated" else emulated)(sender, scenario),
    )


def simulated(controller, scenario):
    """Simulate a run and return the measured fields of its ResultRecord, by name."""
    built = _library(controller)
    kind = _Window if built.export.remembers else _Beliefs
    step = Fraction(scenario.rtt, 1000) * kind.step_in_rtts
    link = definitions.chosen("models", "EMULATED")
    path = Path(link, _bytes(scenario.rates[0]), step, PACKET, 1, scenario.buffer_bytes)
    simulation = Simulation(path, 1, jitter=kind.patterns[scenario.jitter], rates=map(_bytes, scenario.rates))
    flow = kind(built, simulation)
    for number in range(int(SECONDS / step)):
        rate = _bytes(scenario.rates[min(int(number * step // BETWEEN), len(scenario.rates) - 1)])
        if rate != simulation.path.rate:
            simulation.change_rate(rate)
        flow.step()
    done = _as_emulation(simulation.run(), kind.lag, controller, scenario)
    return {
        **summed_up(done, WARM_UP),
        **of_steps(done, int(step * SECOND)),
        "at_start": flow.at_start,
        "delivered_mbit": throughput(done),
    }


def emulated(name, scenario):
    """Emulate a run of a flow of `ccmatic emulate`; return the fields that `simulated` returns."""
    jitter = None if scenario.jitter == "none" else f"{scenario.rtt}ms"
    link = of_texts(f"{scenario.rates[0]}mbit", f"{scenario.rtt}ms", f"{scenario.buffer}bdp", jitter, seed=1)
    done = run_flows(link, [request(name)], REAL_SECONDS)
    start = warm_up(done)
    summary = summed_up(done, start)
    return summary | {"from_seconds": start, "faults": done.faults, "delivered_mbit": throughput(done)}


def of_steps(done, step):
    """Return the most packets lost in a step of `step` ns, and the most C·R_m in flight at the end of a step.

    Both are quantities that lemmas bound, measured after the warm-up.
    """
    edges = np.arange(WARM_UP * SECOND, SECONDS * SECOND + 1, step)
    lost, kept = done.log[done.log["lost"] != 0], done.log[done.log["lost"] == 0]
    released = np.sort(np.where(kept["released"] < 0, done.duration + 1, kept["released"]))
    out = np.searchsorted(kept["arrival"], edges, side="right") - np.searchsorted(released, edges, side="right")
    return {
        "lost_max_in_step": int(np.histogram(lost["arrival"], edges)[0].max()),
        "inflight_max_bdp": float(out.max() * PACKET / done.link.bdp),
    }


def throughput(done):
    """Return the delivered rate in each half second, in Mbit/s."""
    log = done.log[(done.log["lost"] == 0) & (done.log["released"] >= 0)]
    edges = np.arange(0, done.duration + 1, SECOND // 2)
    return [round(float(size) * 16e-6, 3) for size in np.histogram(log["released"], edges, weights=log["size"])[0]]


def line(row, as_json):
    if as_json:
        return records.line(row)
    parts = [
        f"{row.sender:<18}{row.scenario:<46}", f"utilisation {row.utilisation:6.1%}",
        f"queue p95 {row.queueing_delay_rm.p95 or 0:5.2f} R_m", f"lost in R_m {row.lost_max_in_rm:4d}",
    ]  # fmt: skip
    parts += [f"not valid: {fault}" for fault in row.faults or ()]
    return "  ".join([*parts, *(f"OUTSIDE: {bound}" for bound in row.outside or ())])


class Evaluation:
    """The results in a folder, one ResultRecord per line. An interrupted evaluation can therefore resume.

    If a run has two results, the later result counts.
    """

    def __init__(self, folder):
        self.folder = writable_folder(folder)
        self.file = self.folder / "results.jsonl"
        self._rows = dict(self._read()) if self.file.exists() else {}

    @property
    def rows(self):
        return list(self._rows.values())

    def _read(self):
        for number, line in enumerate(read_text(self.file).splitlines(keepends=True), 1):
            if line.endswith("\n"):
                try:
                    row = records.convert(parse_json(line), ResultRecord)
                except InputError as error:
                    raise InputError(f"not a line of results: {error.message}", str(self.file), number) from None
                yield (row.sender, row.scenario), row

    def missing(self, senders, scenarios):
        """Return the pairs (sender, scenario) that have no row or whose run was not valid."""
        finished = {key for key, row in self._rows.items() if not row.faults}
        return [pair for pair in product(senders, scenarios) if (pair[0], pair[1].name) not in finished]

    def add(self, row):
        """Store a row. If a killed evaluation left an incomplete last line, the row overwrites that line."""
        self._rows[row.sender, row.scenario] = row
        with open(self.file, "ab+") as file:
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            file.write(records.line(row).encode() + b"\n")

    def complete(self, senders, scenarios, jobs, cluster=None):
        """Do the missing runs. Store each row as soon as its run ends, and yield the rows in order."""
        with Team(jobs, cluster) as team:
            yield from team.each(run, self.missing(senders, scenarios), self.add)


@cache
def _library(controller):
    return Library(_export(controller))


def _bytes(rate):
    """Convert Mbit/s to bytes per second."""
    return Fraction(rate * 10**6, 8)


def _as_emulation(done, lag, name, scenario):
    """Return a simulated Run in the form of an emulator's log.

    Each packet is delivered `lag` steps later than in the Run.
    """
    per_tick = float(done.path.propagation) * SECOND / done.path.step
    log = np.zeros(len(done.sent), RECORD)
    released = np.where(done.released == NEVER, NEVER, done.released + lag * done.path.step)
    for column, instants in (("arrival", done.sent), ("admitted", done.started), ("planned", released)):
        log[column] = np.where(instants == NEVER, -1, instants * per_tick)
    log["released"] = np.where(log["planned"] < SECONDS * SECOND, log["planned"], -1)
    log["size"], log["lost"] = PACKET, done.lost
    rates = tuple((i * BETWEEN * SECOND, rate * 10**6) for i, rate in enumerate(scenario.rates))
    link = Link(rates, scenario.rtt * SECOND // 1000, scenario.buffer_bytes)
    return Emulation(link, (name,), SECONDS * SECOND, log, False, 0.0, 0, ((0, SECONDS * SECOND),), (None,))


def _aggregation(rng, bound, step):
    """Return a delay function: after R_m, the packets of each random interval within D leave at once (Appendix H)."""
    until = 0

    def release_at(now):
        nonlocal until
        while until < now:
            until += max(1, int(rng.random() * (bound // 2)))
        return until + bound // 2

    return release_at


class _Beliefs:
    """A flow of a controller of beliefs. Its step is R_m + D, which equals the model's jitter."""

    step_in_rtts, lag = 2, 0
    #: The delays behind the bottleneck. R_m, half of the model's jitter, delays every packet.
    patterns = {"none": lambda rng, bound, step: lambda now: now + bound // 2, "aggregation": _aggregation}  # noqa: RUF012

    def __init__(self, built, simulation):
        if built.export.step != self.step_in_rtts:
            raise InputError("the links of the grid have D = R_m; expected a controller exported for a jitter of 1")
        self.simulation, self.sender = simulation, built.sender(PACKET)
        self.sender.over = simulation.path.propagation

    def step(self):
        self.simulation.step(self.sender(self.simulation.observation))

    @property
    def at_start(self):
        return self.sender.at_start


class _Window(WindowFlow):
    """A flow of a controller with state. Its step is R_m. Acknowledgements take the path's delays, plus R_m."""

    step_in_rtts, lag = 1, 1
    patterns = {"none": "none", "aggregation": "bursts"}  # noqa: RUF012
    at_start = False

    def __init__(self, built, simulation):
        rtt = round(simulation.path.propagation * SECOND)
        super().__init__(simulation, StatefulSender(built, PACKET, rtt))


@dataclass(frozen=True)
class ProvedBounds:
    """Proved bounds in the steady state. A bound is None if no proof states it."""

    utilisation: float | None = None  #: the lowest utilisation in many successive windows
    lost_in_step: int | None = None  #: the largest number of packets lost in a step
    inflight_bdp: float | None = None  #: the most bytes in flight, in C·R_m, with those that propagate

    def _violations(self, row):
        if self.utilisation is not None and row.utilisation < self.utilisation - 0.01:
            yield f"utilisation {row.utilisation:.3f}, proved: at least {self.utilisation:.3f}"
        if self.lost_in_step is not None and row.lost_max_in_step > self.lost_in_step:
            yield f"{counted(row.lost_max_in_step, 'packet')} lost in a step, proved: at most {self.lost_in_step}"
        if self.inflight_bdp is not None and row.inflight_max_bdp > self.inflight_bdp:
            yield f"{row.inflight_max_bdp:.2f} C·R_m inflight, proved: at most {self.inflight_bdp:.2f}"


def broken(row):
    """Yield, as text, each proved bound that a ResultRecord breaks.

    A run may have a utilisation that is lower than the bound by 0.01, because the warm-up and the end of the run cut
    windows. The function checks only simulated runs in which the link rate is constant.
    """
    if row.stack == "simulated" and len(row.rates_mbit) == 1:
        yield from bounds(row.sender, row.buffer_bdp, row.at_start)._violations(row)


def bounds(sender, buffer_bdp, at_start=False):
    """Return the ProvedBounds of an exported controller on a link of any rate.

    The bounds come from a proof whose windows are as long as those of the exported controller. `at_start`: the sender
    still runs its start controller, which it replaces after the first large loss.
    """
    export = _export(sender)
    if export.remembers:
        return ProvedBounds()  # a sender without proved bounds
    path = guarantees.DeployedPath(export.jitter, buffer=Fraction(buffer_bdp))
    wanted = " at its start" if at_start else ""
    for where, guarantee in export.guarantees(path):
        if where == wanted and not guarantee.missing:
            return ProvedBounds(_float(guarantee.utilisation), guarantee.lost_in_step, _float(guarantee.inflight))
    return ProvedBounds()


@cache
def _export(sender):
    return exporting.make(sender)


def _float(number):
    return None if number is None else float(number)
