"""Runs of flows that send by a window, packet by packet, as executions of models with windows."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from random import Random
from types import SimpleNamespace

from ccmatic.contracts import Buffer, load_definition, observed
from ccmatic.networks.simulation import JITTER, Path, Simulation, WindowFlow
from ccmatic.worlds.runtime.library import StatefulSender

PACKET, STEPS = 1500, 30

#: Models that runs are executions of, with their D.
OF_EXECUTIONS = {
    "ccac_windows": 1,
    "cbr_delay_windows": 1,
    "ideal_windows": 0,
    "lossy_windows": 1,
    "policer_windows": 1,
    "marking_windows": 1,
    "policed": 1,
}

#: The packets that links carry per R_m. Tokens of `policed` come at half the rate, and these are whole packets, too.
BDPS = {"policed": (4, 10, 24)}


def execution(library, seed, begin=0, jittery=True, link="cbr_delay", offers=None, change=None):
    """A run of an exported controller on the packets of a model from step `begin` on, in C·R_m.

    Bytes that left more slowly than the window allows left at the sender's rate, unless the application paused.
    `offers` is its packets, as in WindowFlow; a pause counts as half a step. `change` returns the PathChange of a run,
    for the packets of the bdp and of the buffer; the execution then has the columns of `changing_windows`.
    """
    rng = Random(seed)
    bdp, room, jitter = rng.choice(BDPS.get(link, (4, 10, 25))), rng.choice((2, 8, 40)), rng.choice(sorted(JITTER))
    path = Path(link, PACKET * bdp, 1, PACKET, 1, PACKET * room)
    if path.threshold is not None:
        path = replace(path, threshold=PACKET * rng.randint(0, room))
    changes = change and change(bdp, room)
    simulation = Simulation(path, seed, jitter=jitter if jittery else "none", change=changes)
    flow = WindowFlow(simulation, StatefulSender(library, PACKET), offers)
    lost, found, cwnd, paused, state = [0], [0], [1], [False], [flow.sender.state()]
    for _ in range(begin + STEPS):
        flow.step()
        lost.append(flow.seen.lost // PACKET)
        found.append(flow.detected)
        cwnd.append(flow.sender.window() // PACKET)
        paused.append(flow.simulation.observation.limited)
        state.append(flow.sender.state())
    simulated = flow.simulation.run()
    samples = {name: list(map(int, column[begin:])) for name, column in simulated.samples.items()}
    columns = {"L": samples["L"], "Ld": lost[begin:], "found": found[begin:], "cwnd": cwnd[begin:]}
    columns |= {name: [n - samples["S"][0] for n in samples[name]] for name in "ASK"}
    columns |= {name: samples[name] for name in (*simulated.columns, "echoed", "carried") if name in samples}
    A, K = columns["A"], columns.pop("K")
    allowed = [S + Ld + cwnd for S, Ld, cwnd in zip(columns["S"], columns["Ld"][1:], columns["cwnd"][1:], strict=False)]
    rates = [after - before for before, after in pairwise(A)]
    steps = zip(pairwise(A), allowed, paused[begin + 1 :], strict=True)
    windowed = [late or after == max(before, most) for (before, after), most, late in steps]
    columns["r"] = [10**6, *(10**6 if free else rate for rate, free in zip(rates, windowed, strict=True))]
    clocks = clocks_of(changes, begin) if changes else [(0, 0)] * (STEPS + 1)
    factor = changes.rate if changes else 1
    offered = [bdp * (t - out - after + factor * after) for t, (out, after) in enumerate(clocks)]
    columns["W"] = [carried - tokens for carried, tokens in zip(offered, K, strict=True)]
    scaled = {name: [Fraction(n) / bdp for n in column] for name, column in (columns | {"G": offered}).items()}
    scaled |= {name: list(column) for name, column in zip("ZP", zip(*clocks, strict=True), strict=True)}
    delays = [delay if served else STEPS + 1 for delay, served in zip(samples["Q"], samples["S"], strict=True)]
    return SimpleNamespace(
        horizon=STEPS + 1,
        constants={"MSS": Fraction(1, bdp), "beta": Fraction(room, bdp), "tokens_at_first": 0},
        columns={**scaled, "Q": delays, "idle": [Fraction(int(each), 2) for each in paused[begin:]]},
        state=state[begin:],
        threshold=path.model.threshold,
    )


def clocks_of(change, begin):
    """The time of the outage so far and the time since the change, at the steps of an execution from `begin` on."""
    passed = [max(Fraction(0), begin + t - change.at) for t in range(STEPS + 1)]
    return [(min(time, change.outage), max(Fraction(0), time - change.outage)) for time in passed]


def broken(recorded, model, D=1):
    """The names of the laws, of the network and of senders, that an execution breaks."""
    model, beta = load_definition("models", "MODEL", model), Buffer("exactly", recorded.constants["beta"])
    if model.threshold is not None:
        model = model.with_threshold(recorded.threshold)
    return {law.name for law in model.laws(observed(model, beta, D, recorded, ())) if law.formula is not True}
