"""Losses by chance (docs/reference/encoding.md, section 2): packets obey the laws; beliefs stay true; questions."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from ccmatic.models.beliefs import link_rate
from ccmatic.models.lossy import MODEL

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.contracts import load_definition
from ccmatic.contracts.execution import execution
from ccmatic.deployment.emulation import pipeline, replay
from ccmatic.logic import equal, every, no, some
from ccmatic.logic.solving import SAT, UNSAT, Checker
from ccmatic.networks.simulation import Path, simulate
from ccmatic.questions import query as queries
from support.machine import needs_compiler
from support.planting import defined

#: Links from few losses in a run to many.
LINKS = ("lossy", "lossy:loss_rate=1/10,loss_burst=3", "lossy:loss_rate=1/3")


@needs_compiler
@pytest.mark.parametrize("burst", [1, 5])
def test_the_share_of_losses_is_the_loss_rate(burst):
    """In the long run; and no interval of packets loses more than the share and the burst."""
    share = Fraction(1, 20)
    path = Path(f"lossy:loss_rate={share},loss_burst={burst}", 40, jitter=1, buffer=200)
    lost = simulate(path, lambda seen: 39, 400, seed=3).lost
    assert abs(lost.mean() - share) < 0.002
    allowance = np.cumsum(lost - float(share))
    rise = allowance - np.minimum.accumulate(np.concatenate(([0], allowance[:-1])))
    assert burst - 1 < rise.max() <= burst


@needs_compiler
def test_without_losses_by_chance_it_is_the_link_behind():
    """Packets that chance does not lose fare as on CBR-delay, if only these are sent."""
    path = Path("lossy:loss_rate=1/10,loss_burst=4", 10, jitter=1, buffer=1000)
    run = simulate(path, lambda seen: (5, 20)[seen.step % 2], 30, seed=5, jitter="none")
    now, served = 0, []
    for sent in run.sent[~run.lost]:
        served.append(max(now, sent))
        now = served[-1] + path.ticks
    assert run.lost.any() and run.started[~run.lost].tolist() == served


@needs_compiler
def test_the_emulated_link_loses_by_an_allowance_of_bytes():
    """Packets of any sizes, by exact arithmetic on the allowance and on the bytes that wait."""
    by_chance = overflowed = 0
    for seed in range(5):
        link = pipeline._link(on="lossy 12 mbit, rtt 40 ms, buffer 15 kb, loss 5%, burst 2 packets", seed=seed)
        rng, first = Random(seed), Numbers(seed)
        arrivals = np.cumsum([rng.choice((0, 1, 10**6, rng.randint(0, 2 * 10**6))) for _ in range(400)]).tolist()
        sizes = [rng.choice((1500, 1500, rng.randint(40, 1500))) for _ in arrivals]
        decided = replay.decisions(link, arrivals, sizes)
        assert decided == replay.decisions(link, arrivals, sizes)
        allowance, bursts, end = Fraction(first.draw(0, 3000)), False, Fraction(0)
        for now, size, (dropped, admitted, _) in zip(arrivals, sizes, decided, strict=True):
            allowance = min(Fraction(3000), allowance + Fraction(size, 20))
            chance = size <= allowance
            if chance and not bursts:
                chance = allowance == 3000 or first.draw(1, 20) <= 1
                bursts = chance and first.draw(0, 1) == 1
            bursts = bursts and chance
            waits = max(Fraction(0), end - now) * 12 / 8000
            full = not chance and waits + size > 15000
            assert dropped == (chance or full)
            allowance -= size if chance else 0
            if not dropped:
                end = max(Fraction(now), end) + Fraction(size * 8000, 12)
                assert 0 <= admitted - end < 1
            by_chance, overflowed = by_chance + chance, overflowed + full
    assert by_chance > 50 and overflowed > 50


class Numbers:
    """The emulator's random numbers: SplitMix64."""

    def __init__(self, seed):
        self.state = seed

    def draw(self, least, most):
        self.state = z = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return least + ((z ^ z >> 31) * (most - least + 1) >> 64)


def answer(condition, buffer="any", horizon=5, jitter=1, pauses=False, model="lossy"):
    """Whether the condition is true of some execution that begins with true beliefs."""
    query = queries.make(model, buffer, horizon, jitter=jitter, delay="executions")
    x = execution(query.model, horizon, query.buffer, jitter, pauses=pauses)
    checker = Checker()
    for law in [*query.laws(x), *query.model.belief_laws(x)]:
        checker.add(law.formula)
    checker.add(condition(x))
    return checker.check()


def at_end(name):
    return lambda x: x.beliefs[name][x.horizon - 1]


def false_at_end(x):
    return some([no(bound.holds(x, at_end(bound.name)(x))) for bound in MODEL.bounds()])


@pytest.mark.parametrize("jitter", [0, 1, 2])
@pytest.mark.parametrize("buffer", ["2", "any"])
def test_beliefs_stay_true_of_it(buffer, jitter):
    """Of any D: on CCAC, C_U turns false with a finite buffer and D = 2."""
    assert answer(false_at_end, buffer, jitter=jitter) == UNSAT
    assert answer(false_at_end, buffer, jitter=jitter, model=LINKS[1]) == UNSAT


def test_a_sender_still_learns_an_upper_bound():
    def lowers(x):
        return every(x.beliefs["C_U"][0] >= 10 * x.C, at_end("C_U")(x) <= 2 * x.C)

    assert answer(lowers, "4", horizon=7) == SAT


@pytest.mark.parametrize(
    "right, wrong",
    [
        ("delay > D + step and acked > acked[step]", "delay > D or timely > timely[step]"),
        ("delay > D + step and acked > acked[step]", "delay > D + step"),
        ("delay > D + step", "delay > D"),
        ("k - (D + step)", "k - D"),
    ],
)
def test_a_weaker_sign_of_a_busy_link_turns_a_bound_false(right, wrong, monkeypatch):
    """A loss is no such sign, nor is a delay that is not new."""
    defined(link_rate.BY_DELAY, right, wrong)(monkeypatch)
    assert answer(false_at_end, "2") == SAT


def test_it_loses_at_most_the_share_and_a_burst():
    def loses(more):
        """In 4 steps without a queue, in packets of C/10."""

        def condition(x):
            empty = [x.admitted(t) <= x.K[t] for t in range(x.horizon)]
            small = equal(x.alpha, x.C / 10)
            sent = x.A[x.horizon - 1] - x.A[0]
            return every(*empty, small, x.L[x.horizon - 1] - x.L[0] >= sent / 100 + x.alpha + more)

        return condition

    assert answer(loses(0), "4") == SAT
    assert answer(loses(Fraction(1, 1000)), "4") == UNSAT


def test_for_ever_it_loses_at_most_the_share():
    """A burst is no part of each period."""
    network = cm.Network("lossy_windows:loss_rate=1/10,loss_burst=3", "4", 5)
    given = "alpha == 1/10; chance[T-1] - chance[begin] > (A[T-1] - A[begin]) / 10"
    with pytest.raises(InputError, match="no execution"):
        cm.worst("constant_window", network, period=2, given=given)
    assert cm.worst("constant_window", network, given=given).verdict == "found"


def test_its_words():
    written = {
        "lossy, buffer 1 bdp, loss 1%, burst 3 packets": (Fraction(1, 100), 3),
        "lossy 24 mbit, rtt 40 ms, buffer 1 bdp, loss 0.1%": (Fraction(1, 1000), 1),
        "lossy, loss_rate=1/7, buffer 1 bdp": (Fraction(1, 7), 1),
    }
    for text, (share, burst) in written.items():
        for controller in ("cc_qdel", "aimd"):
            model = cm.ask(controller, text, "loss <= 10%").query.model
            assert (model.loss_rate, model.loss_burst, model.windows) == (share, burst, controller == "aimd")


@needs_compiler
def test_a_contradiction_is_refused():
    for wrong in ("0", "1", "-1/2", "x"):
        with pytest.raises(InputError, match="expected a share above 0 and below 1, such as 1/100"):
            load_definition("models", "MODEL", f"lossy:loss_rate={wrong}")
    with pytest.raises(InputError, match="expected a whole number, at least 1"):
        load_definition("models", "MODEL", "lossy:loss_burst=0")
    with pytest.raises(
        InputError, match=r"has a loss, and cbr_delay loses no bytes by chance; expected such as 'lossy 24"
    ):
        pipeline._link(on="24 mbit, rtt 40 ms, buffer 1 bdp, loss 1%")
