"""What learners' senders believe is what the deployed controllers of the packet simulator believe."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from ccmatic.contracts import load_definition
from ccmatic.language import load
from ccmatic.learning.estimation import beliefs
from ccmatic.simulation import Deployed, Path, Simulation

PACKET, BDP, STEPS = 1000, 60, 130


def told(seed, controller, buffer):
    """The observations of a deployed controller on a link whose rate changes twice, and its beliefs after each step, as
    one window has them that the next begins with."""
    path = Path("cbr_delay", rate=BDP * PACKET, packet=PACKET, jitter=1, buffer=buffer and buffer * BDP * PACKET)
    model = load_definition("models", "MODEL", "cbr_delay")
    start = {"C_L": PACKET, "C_U": Fraction(beliefs.MOST), "C_Llambda": PACKET}
    sender = Deployed(model, load(controller), path, beliefs.HORIZON - 1, start)
    rates = [BDP * PACKET // 3, BDP * PACKET * 2]
    simulation = Simulation(path, seed, rates=rates)
    for step in range(STEPS):
        seen = simulation.observation
        rate = sender(seen)
        yield seen, {name: float(column[-1]) for name, column in sender._x.beliefs.items()}
        simulation.step(rate)
        if step in (40, 85):
            simulation.change_rate(rates[step == 85])


@pytest.mark.parametrize("controller, buffer", [("cc_probe_slow", Fraction(1, 2)), ("cc_qdel", None)])
def test_beliefs_are_those_of_deployed_senders(controller, buffer):
    runs = [[*told(seed, controller, buffer)][1:] for seed in (1, 2, 3)]
    after = jax.jit(beliefs.Bounds.after)
    bounds, before = beliefs.begin(jnp.ones((1, 3)), PACKET), [(0, 0, 0)] * 3
    timed_out = 0
    for row in zip(*runs, strict=True):
        seen = [(each.sent, each.delivered, each.lost, each.last, each.first) for each, _ in row]
        counts = [np.subtract(now[:3], then) for now, then in zip(seen, before, strict=True)]
        before = [now[:3] for now in seen]
        given = np.array([[*count, *now[3:]] for count, now in zip(counts, seen, strict=True)], np.float32).T
        bounds = after(bounds, *given[:, None])
        timed_out += int(bounds.p) == 0
        for name, found in bounds.named().items():
            expected = [known[name] for _, known in row]
            assert np.asarray(found)[0] == pytest.approx(expected, rel=1e-4), (name, row[0][0].step)
    assert timed_out > 10
