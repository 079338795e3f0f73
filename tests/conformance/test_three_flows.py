"""An exercise: a third flow, by a parameter of a shipped model, in `worst`, on simulated and on emulated links."""

from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import pytest

import ccmatic as cm
from ccmatic.contracts import Buffer, load_definition, observed
from ccmatic.deployment.emulation import kinds, run
from ccmatic.deployment.emulation import link as links
from ccmatic.deployment.exporting import header
from ccmatic.networks.simulation import JITTER, Path, SharedLink, Simulation
from ccmatic.worlds.runtime import Library, StatefulSender
from support.machine import needs_compiler
from support.sampling import each_nth

THREE = "ccac2021:flows=3,begins=anywhere,timer=executions,waste=constant-rate,delay=own"
PACKET, BDP, ROOM, STEPS = 1500, 12, 20, 24


def test_the_share_of_three_flows_is_bounded():
    """A third flow lowers the least share of one from 1/5 … 3/10 to 1/10 … 1/5."""
    worst = {}
    for flows in (2, 3):
        network = cm.Network(f"ccac2021:flows={flows},delay=own", "1", 4)
        found = cm.worst("constant_window", network, "share", start="empty", given="alpha == 1/4", resolution="1/10")
        assert cm.replay(found.trace).outcome.value == "breaks"
        worst[flows] = found.none, found.some
    assert worst == {2: (Fraction(1, 5), Fraction(3, 10)), 3: (Fraction(1, 10), Fraction(1, 5))}


#: The model of three flows, by that of the simulated packets.
MODELS = {"cbr_delay": THREE, "policer": "policer_windows:flows=3,delay=own"}


def execution(seed, controllers=("aimd", "constant_window", "aimd"), link="cbr_delay"):
    """A run of three exported controllers over one simulated link, in C·R_m."""
    path = Path(link, PACKET * BDP, 1, PACKET, 1, PACKET * ROOM)
    senders = [StatefulSender(Library(header.make(name), ("-O0",)), PACKET) for name in controllers]
    shared = SharedLink(Simulation(path, seed, jitter=sorted(JITTER)[seed % len(JITTER)]), senders)
    columns = {f"{name}{flow}": [0] for name in ("A", "S", "L", "Ld", "found") for flow in (1, 2, 3)}
    columns |= {f"cwnd{flow}": [1] for flow in (1, 2, 3)}
    for _ in range(STEPS):
        shared.step()
        for number, flow in enumerate(shared.flows, 1):
            seen = flow.simulation.observation
            values = {"A": seen.sent, "S": seen.delivered, "L": seen.dropped, "Ld": flow.seen.lost}
            values |= {"found": flow.detected * PACKET, "cwnd": flow.sender.window()}
            for name, value in values.items():
                columns[f"{name}{number}"].append(value // PACKET)
    simulated = shared.simulation.run()
    samples = simulated.samples
    columns |= simulated.columns
    for name in "ASL":
        assert [sum(each) for each in zip(*(columns[f"{name}{n}"] for n in (1, 2, 3)), strict=True)] == list(
            samples[name]
        )
    columns["W"] = [t * BDP - int(tokens) for t, tokens in enumerate(samples["K"])]
    for n in (1, 2, 3):
        sent = [after - before for before, after in pairwise(columns[f"A{n}"])]
        columns[f"r{n}"] = [10**6, *(rate or 10**6 for rate in sent)]
    constants = {"MSS": Fraction(1, BDP), "beta": Fraction(ROOM, BDP), "tokens_at_first": 0}
    return SimpleNamespace(
        horizon=STEPS + 1,
        constants=constants,
        columns={name: [Fraction(value, BDP) for value in column] for name, column in columns.items()},
    )


def broken(recorded, link="cbr_delay"):
    model = load_definition("models", "MODEL", MODELS[link])
    view = observed(model, Buffer("exactly", recorded.constants["beta"]), 1, recorded, ())
    return {law.name for law in model.laws(view) if law.formula is not True}


@needs_compiler
@pytest.mark.parametrize("link", each_nth(3, MODELS))
@pytest.mark.parametrize("seed", each_nth(2, range(6)))
def test_three_simulated_flows_obey_the_laws(seed, link):
    assert broken(execution(seed, link=link), link) == set()


@needs_compiler
def test_bytes_that_overtake_break_a_law():
    recorded = execution(1)
    S1, S2 = recorded.columns["S1"], recorded.columns["S2"]
    moved = min(S1[-1] - S1[-2], Fraction(1))
    recorded.columns["S1"], recorded.columns["S2"] = [*S1[:-1], S1[-1] - moved], [*S2[:-1], S2[-1] + moved]
    assert moved > 0 and "leaves_in_order" in broken(recorded)


def test_three_real_flows_share_an_emulated_link(iperf3):
    done = run.run_flows(
        links.of_texts("24mbit", "20ms", "1bdp"), kinds.timetable(["cubic", "reno", "cubic"], 1.5), 1.5
    )
    assert {*done.log["flow"].tolist()} >= {0, 1, 2} and "the log does not replay" not in done.faults
