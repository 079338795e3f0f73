"""An exercise: CoDel with head drop, as packets and as laws, in a folder outside the package."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest

import ccmatic as cm
from ccmatic.answers.verification import check_trace
from ccmatic.base import InputError
from ccmatic.contracts import load_definition
from ccmatic.networks.simulation import JITTER, Path, Simulation, WindowFlow, simulate
from ccmatic.questions import query as queries
from ccmatic.worlds.runtime import StatefulSender
from support import ROOT, cli
from support.machine import needs_compiler
from support.sampling import each_nth

CODEL = str(ROOT / "tests" / "exercises" / "links" / "codel")

pytestmark = needs_compiler


def model():
    return load_definition("models", "MODEL", CODEL, allow_code=True)


def run(seed):
    """Packets of a sender at random rates that often fill the queue."""
    rng = Random(seed)
    bdp, steps = rng.randint(20, 60), rng.randint(10, 20)
    rates = [rng.choice((1, bdp, bdp + 1, 2 * bdp, rng.randint(1, 4 * bdp))) for _ in range(steps)]
    path = Path(model(), rate=bdp, jitter=rng.randint(1, 2), buffer=rng.randint(bdp, 6 * bdp))
    queue, jitter = rng.choice((0, bdp, 5 * bdp)), rng.choice(sorted(JITTER))
    return simulate(path, lambda seen: rates[seen.step], steps, seed, queue, jitter)


def broken(simulated, start, **columns):
    """The laws that a run breaks from a step on, with other columns in place of its own."""
    horizon = simulated.steps + 1 - start
    trace = simulated.trace(start, horizon, alpha=Fraction(1, 2 * simulated.path.bdp))
    asked = queries.make(CODEL, str(trace.constants["beta"]), horizon, jitter=simulated.path.jitter, delay="executions")
    trace = trace.with_columns(**{name: change(trace.columns[name]) for name, change in columns.items()})
    return {str(fault) for fault in check_trace(asked, trace.measuring(asked.model.measures)).faults}


@pytest.mark.parametrize("seed", each_nth(4, range(60)))
def test_packets_obey_the_laws(seed):
    simulated = run(seed)
    assert broken(simulated, 1) == broken(simulated, 4) == set()


def test_packets_are_dropped_at_the_head_and_at_a_full_buffer():
    at_head = at_tail = 0
    for seed in range(60):
        done = run(seed)
        at_head += int((done.lost & (done.dropped > done.sent)).sum())
        at_tail += int((done.lost & (done.dropped == done.sent)).sum())
        started = done.started[~done.lost]
        assert (np.diff(started) >= 0).all() and (started >= done.sent[~done.lost]).all()
    assert at_head > 50 and at_tail > 50


def test_losses_without_a_queue_break_a_law():
    simulated = simulate(Path(model(), 20, jitter=1, buffer=40), lambda seen: 10, 9)
    assert broken(simulated, 1) == set()
    laws = broken(simulated, 1, L=lambda L: (*L[:-1], L[-1] + Fraction(1, 100)))
    assert any("codel.lost_from_a_queue at t=8" in law for law in laws)


@pytest.mark.parametrize("controller", ["always_c_l", "cc_qdel"])
def test_controllers_are_verified_by_path(controller, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, said, _ = cli.run("verify", controller, "--model", CODEL, "--buffer", "1", "--horizon", "5", "--json")
    [line] = cli.lines(said)
    assert (code, line["verdict"]) in ((0, "holds"), (1, "violated"))
    if code:
        assert cli.run("replay", line["trace"], "--allow-code")[0] == 0


def test_what_holds_of_the_laws_is_decided():
    """In 4 R_m at most C·(4 + D) bytes are served, however many CoDel drops."""
    asked = ["--property", "avoids", "--threshold", "what=S[4] - S[0] > 5 * C", "--model", CODEL]
    assert cli.run("verify", "cc_qdel", *asked, "--buffer", "any", "--horizon", "5")[0] == 0


def test_what_its_links_are_not():
    with pytest.raises(InputError, match="the codel link drops bytes, expected a finite buffer"):
        cm.Network(CODEL, "infinite", 5)
    simulation = Simulation(Path(model(), 20, jitter=1, buffer=40), rates=[40])
    with pytest.raises(InputError, match="the rate of the link of codel cannot change"):
        simulation.change_rate(40)
    with pytest.raises(InputError, match="no window is simulated on codel"):
        WindowFlow(simulation, StatefulSender)
