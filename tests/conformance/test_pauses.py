"""Networks whose applications pause: what senders believe stays true, and what they observe is so."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
import pytest
from ccmatic.models.beliefs import link_rate, probing
from ccmatic.models.ccac2021 import laws

import ccmatic as cm
from ccmatic import controllers
from ccmatic.answers.verification import Outcome
from ccmatic.answers.verification.replayer import check_trace
from ccmatic.base import InputError
from ccmatic.contracts import Buffer, load_definition, observed
from ccmatic.deployment.exporting import header
from ccmatic.logic import isolated, no, some
from ccmatic.logic.solving import SAT, UNSAT, Checker
from ccmatic.networks.simulation import JITTER, Path, Simulation, WindowFlow
from ccmatic.networks.simulation.deployed import DeployedController
from ccmatic.questions import query as queries
from ccmatic.worlds.runtime.library import Library, StatefulSender
from support import window_runs
from support.applications import Application, Bursts
from support.believing import ANYONE
from support.machine import needs_compiler
from support.planting import defined
from support.sampling import each_nth

RATES = [
    (kind, buffer, horizon)
    for kind, horizons in (("ideal", (3, 4, 5)), ("ccac", (3, 4, 5)), ("cbr_delay", (3, 4)), ("varying", (3, 4, 5)))
    for buffer in ("infinite", "1/2", "any")
    for horizon in horizons
]

#: It grows by a packet in each step, unless the application offered less than it allowed.
VALIDATING = """\
window: bytes = between(MSS, 100 * MSS)
def update(window, app_limited, MSS):
    if not app_limited:
        window = window + MSS
def send(window):
    return window
"""
PAUSES = "ccac, buffer 2 bdp, application pauses"


def answer(model, buffer, horizon, condition):
    """Whether some execution of any rates, from true beliefs, meets a condition of the model and the execution."""
    query = queries.make(model, buffer, horizon, delay="executions", property="avoids", thresholds={"what": "T < 0"})
    x = query.execution()
    checker = Checker()
    for law in [*query.laws(x), *query.model.belief_laws(x)]:
        checker.add(law.formula)
    checker.add(condition(query.model, x))
    return checker.check()


def some_belief_is_false(model, x):
    end = x.horizon - 1
    bounds = [no(bound.holds(x, x.beliefs[bound.name][end])) for bound in model.bounds()]
    return some(bounds, [no(state.holds_at(x, end)) for state in model.true_states()])


def nothing_is_sent(model, x):
    return some([x.A[t] <= x.A[t - 1] for t in range(1, x.horizon)])


@pytest.mark.parametrize("kind, buffer, horizon", each_nth(3, RATES))
@isolated
def test_beliefs_of_senders_at_rates_stay_true(kind, buffer, horizon):
    pausing = f"{kind}:application=pauses"
    assert answer(pausing, buffer, horizon, nothing_is_sent) == SAT
    assert answer(kind, buffer, horizon, nothing_is_sent) == UNSAT
    assert answer(pausing, buffer, horizon, some_belief_is_false) == UNSAT


@pytest.mark.parametrize("kind", ["ideal", "ccac", "cbr_delay"])
@isolated
def test_a_pause_that_the_sender_does_not_see_makes_its_upper_bound_false(kind, monkeypatch):
    defined(link_rate.PROGRAM, "and not limited", "")(monkeypatch)
    assert answer(f"{kind}:application=pauses", "any", 4, some_belief_is_false) == SAT
    assert answer(kind, "any", 4, some_belief_is_false) == UNSAT


@isolated
def test_a_pause_that_the_sender_does_not_see_makes_its_queue_false(monkeypatch):
    defined(probing.PROGRAM, "sending if limited else 0", "0")(monkeypatch)
    assert answer("cbr_delay:application=pauses", "any", 3, some_belief_is_false) == SAT


@pytest.mark.parametrize("horizon", each_nth(3, [3, 4, 5, 6, 7, 8]))
@pytest.mark.parametrize("buffer", ["infinite", "1/2", "2"])
@pytest.mark.parametrize("belief, bound", [("C_L", "<="), ("C_U", ">=")])
def test_beliefs_of_senders_by_windows_stay_true(belief, bound, buffer, horizon):
    """Whatever they send, for which any window does on other networks, too."""
    sender = ANYONE.format(believed=belief)
    network = f"ccac, buffer {buffer if buffer == 'infinite' else f'{buffer} bdp'}, application pauses"
    assert cm.answer(cm.ask(sender, network, f"{belief} {bound} 100%", horizon=horizon)).verdict == "holds"


def verdict(controller, network, expectation, **more):
    found = cm.answer(cm.ask(controller, network, expectation, **more))
    if found.verdict == "violated":
        assert cm.replay(found.trace).outcome is Outcome.BREAKS
    return found.verdict


GROWTH = "growth <= 0 packets while app_limited"


@pytest.mark.parametrize("controller, expected", [(VALIDATING, "holds"), ("reno", "holds"), ("aimd", "violated")])
def test_a_window_may_grow_while_the_application_pauses(controller, expected):
    """As RFC 7661 forbids. Reno does not count what is acknowledged while the application pauses."""
    assert verdict(controller, PAUSES, GROWTH) == expected


def test_a_window_that_stays_while_the_application_pauses_does_so_for_ever():
    assert verdict(VALIDATING, PAUSES, GROWTH, period=2) == "holds"


def test_a_window_that_is_kept_is_sent_at_once_after_idling():
    """As RFC 9002 warns of in section 7.8."""
    burst = "burst <= 10 packets while app_limited and queue <= 0 packets"
    assert verdict("constant_window", PAUSES, burst) == "holds"
    assert verdict("reno", PAUSES, burst) == "violated"


def test_utilisation_is_about_intervals_without_a_pause():
    used, network = "utilisation >= 50% over every 2 rtt", "ideal, buffer infinite"
    given = {"start": "converged", "horizon": 7}
    assert verdict(VALIDATING, network, used, **given) == "holds"
    assert verdict(VALIDATING, f"{network}, application pauses", f"{used} while no app_limited", **given) == "holds"
    with pytest.raises(InputError, match="pauses; expected 'utilisation .* rtt while no app_limited'"):
        cm.ask(VALIDATING, f"{network}, application pauses", f"{used} while app_limited", **given)


def test_traces_with_pauses_are_executions_of_networks_with_pauses_alone():
    found = cm.answer(cm.ask("aimd", PAUSES, "window <= 1 bdp while app_limited")).trace
    x = of_trace("ccac_windows:application=pauses", found)
    paused = [t for t in range(1, x.horizon) if x.flows[0].limited[t]]
    assert paused and all(x.A[t] < x.A[t - 1] + x.r[t] for t in paused)
    for name, broken in (("ccac_windows:application=pauses", set()), ("ccac_windows", {"sends_by_window_and_rate"})):
        y = of_trace(name, found)
        assert {law.name for law in load_definition("models", "MODEL", name).laws(y) if law.formula is False} == broken


def of_trace(name, trace):
    model = load_definition("models", "MODEL", name)
    return observed(model, Buffer.parse("2"), 1, trace, ())


def test_a_sender_that_is_told_of_a_pause_wrongly_is_refused():
    """By replay: state that says the opposite of what the step before shows."""
    remembers = "paused: condition = anything()\n" + VALIDATING.replace("update(", "update(paused, ").replace(
        "    if not", "    paused = app_limited\n    if not"
    )
    found = cm.answer(cm.ask(remembers, PAUSES, "window <= 1 bdp")).trace
    assert cm.replay(found).outcome is Outcome.BREAKS
    flipped = [*found.columns["paused"][:-1], 1 - found.columns["paused"][-1]]
    faults = cm.replay(found.with_columns(paused=tuple(flipped))).faults
    assert any("state_is_the_controllers" in str(fault) for fault in faults)


def test_what_pauses_alone_would_break_is_refused():
    with pytest.raises(InputError, match="may pause, and synthesis_invariant requires utilisation; expected a network"):
        queries.make("ccac:application=pauses", "any", 5)
    with pytest.raises(InputError, match="the emulator's applications always send"):
        cm.emulate("cubic", on="24 mbit, rtt 40 ms, buffer 1 bdp, application pauses")


BDP, STEPS = 20, 60
RATE = "def rate(C_L, C_U, MSS, R_m):\n    if C_U > 2*C_L:\n        return 2*C_L\n    return C_L + MSS/R_m\n"


def run_with_pauses(kind, seed, sees=True):
    """A run of a deployed sender from true beliefs, and the Observations with the beliefs of each step."""
    rng = Random(seed)
    model = load_definition("models", "MODEL", f"{kind}:application=pauses")
    buffer = rng.choice((None, 12, 60))
    jitter = 0 if kind == "ideal" else 1 if buffer else rng.choice((1, 2))
    path = Path(model, BDP, jitter=jitter, buffer=buffer)
    controller = controllers.parse(RATE, beliefs={belief.name: belief.unit for belief in model.beliefs})
    first = {"C_L": rng.choice((1, 5, 20)), "C_U": rng.choice((20, 30, 80)), "C_Llambda": 1}
    sender = DeployedController(model, controller, path, 9, first)
    simulation, offers = Simulation(path, seed, initial_queue=rng.choice((0, 8))), Application(rng)
    for _ in range(STEPS):
        seen = simulation.observation
        simulation.step(sender(seen if sees else replace(seen, limited=False)), offers)
    return simulation.run(), sender


def false_beliefs(run, sender):
    """(step, belief) of each that is false before its window times out."""
    samples = run.samples
    for window in sender.windows:
        for name, column in window.beliefs.items():
            values = [*column[:-1], window.before_timeout.get(name, column[-1])]
            for t, value in enumerate(values, window.start):
                queue = int(samples["A"][t] - samples["L"][t] - samples["K"][t])
                true = {"C_L": value <= BDP, "C_U": value >= BDP, "C_Llambda": value <= BDP, "q_U": value >= queue}
                if not true.get(name, True):
                    yield t, name


def broken_laws(run, rng):
    begin, horizon = rng.randint(1, STEPS - 12), rng.randint(4, 12)
    trace = run.trace(begin, horizon, alpha=Fraction(1, 400))
    buffer = str(trace.constants.get("beta", "infinite"))
    model, jitter = trace.query["model"], run.path.jitter
    about = {"delay": "executions", "property": "avoids", "thresholds": {"what": "T < 0"}}
    query = queries.make(model, buffer, horizon, jitter=jitter, **about)
    return check_trace(query, trace.measuring(query.model.measures)).faults


def check_run(kind, seed):
    run, sender = run_with_pauses(kind, seed)
    assert not [*false_beliefs(run, sender)], (kind, seed)
    assert not broken_laws(run, Random(seed)), (kind, seed)
    return sum(run.samples["r"] > np.diff(run.samples["A"], prepend=0))


@pytest.mark.parametrize("kind", each_nth(3, ["ideal", "ccac", "cbr_delay"]))
def test_runs_with_pauses_obey_the_laws_and_beliefs_stay_true(kind):
    assert sum(check_run(kind, seed) for seed in range(25)) > 250


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ideal", "ccac", "cbr_delay"])
def test_many_runs_with_pauses_obey_the_laws_and_beliefs_stay_true(kind):
    for seed in range(3400):
        check_run(kind, seed)


@pytest.mark.parametrize("kind", each_nth(3, ["ideal", "ccac", "cbr_delay"]))
def test_a_deployed_sender_that_does_not_see_pauses_believes_falsely(kind):
    found = {name for seed in range(25) for _, name in false_beliefs(*run_with_pauses(kind, seed, sees=False))}
    assert "C_U" in found


#: It keeps whether the application paused in the step before, and in the one before that.
OBSERVING = """\
window: bytes = above(0)
paused: condition = anything()
before: condition = anything()
def update(window, app_limited, paused, timeout, MSS):
    before = paused
    paused = app_limited
    if timeout:
        window = 2 * MSS
    elif not app_limited:
        window = window + MSS
def send(window):
    return window
"""
NETWORKS = {"ccac_windows": 1, "cbr_delay_windows": 1}


@cache
def observing(folder):
    file = folder / "observing.py"
    file.write_text(OBSERVING)
    return Library(header.make(str(file)))


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return observing(tmp_path_factory.mktemp("observing"))


def broken_by_window(library, seed, model, link="cbr_delay"):
    """The names of the laws, of the network and of the controller, that a run with pauses breaks from a step on."""
    ran = window_runs.execution(library, seed, Random(seed).randint(0, 20), link=link, offers=Bursts(Random(seed)))
    network = window_runs.broken(ran, model)
    controller, loaded = library.export.controller, load_definition("models", "MODEL", model)
    bdp = 1 / ran.constants["MSS"]
    scales = {"bytes": Fraction(1, window_runs.PACKET) / bdp}
    for memory in controller.state:
        ran.columns[memory.name] = [each[memory.name] * scales.get(str(memory.unit), 1) for each in ran.state]
    x = observed(loaded, Buffer("exactly", ran.constants["beta"]), 1, ran, (), state=controller.state)
    decides = {name for name, t, holds in controller.laws(x.flows[0]) if t and holds is not True}
    return network, decides, any(ran.columns["idle"])


@needs_compiler
@pytest.mark.parametrize("model", each_nth(2, NETWORKS))
def test_runs_of_windows_with_pauses_obey_the_laws(model, library):
    found = [broken_by_window(library, seed, f"{model}:application=pauses") for seed in range(15)]
    assert all(not network and not decides for network, decides, _ in found)
    assert sum(paused for *_, paused in found) > 10


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize("model", NETWORKS)
def test_many_runs_of_windows_with_pauses_obey_the_laws(model, library):
    for seed in range(5000):
        assert broken_by_window(library, seed, f"{model}:application=pauses")[:2] == (set(), set()), seed


@needs_compiler
def test_runs_with_pauses_break_the_laws_of_a_network_without(library):
    broken = set().union(*(broken_by_window(library, seed, "ccac_windows")[0] for seed in range(10)))
    assert "sends_by_window_and_rate" in broken


@needs_compiler
def test_a_window_sender_that_does_not_see_pauses_breaks_its_controllers_laws(library, monkeypatch):
    observe = WindowFlow._observe

    def blind(self):
        seen = observe(self)
        seen.app_limited = 0
        return seen

    monkeypatch.setattr(WindowFlow, "_observe", blind)
    model = "ccac_windows:application=pauses"
    assert any("state_is_the_controllers" in broken_by_window(library, seed, model)[1] for seed in range(10))


def runs_of_beliefs(seeds):
    """How often C_U comes near the rate in runs with pauses of a window sender, whose beliefs are true in each step."""
    sender, learned = Library(header.make("aimd_believing", "ccac_windows:application=pauses")), 0
    for seed in seeds:
        rng = Random(seed)
        bdp, room, jitter = rng.choice((4, 10, 25)), rng.choice((8, 40)), rng.choice(sorted(JITTER))
        path = Path(rng.choice(("cbr_delay", "ccac")), 1500 * bdp, 1, 1500, 1, 1500 * room)
        flow = WindowFlow(Simulation(path, seed, jitter=jitter), StatefulSender(sender, 1500), Bursts(rng))
        for _ in range(STEPS):
            flow.step()
            state = flow.sender.state()
            assert state["C_L"] <= path.rate <= state["C_U"], seed
        learned += state["C_U"] <= 2 * path.rate
    return learned


@pytest.mark.slow
@needs_compiler
def test_simulated_window_senders_believe_what_is_true():
    assert runs_of_beliefs(range(300)) > 100


@needs_compiler
@pytest.mark.slow
def test_many_simulated_window_senders_believe_what_is_true():
    assert runs_of_beliefs(range(10_000)) > 3000


@needs_compiler
def test_an_exported_sender_learns_of_pauses(library):
    """In the step in which it has nothing to send, and until it sends again."""
    sender, step = StatefulSender(library, window_runs.PACKET, rtt=1000), []

    def ended(number):
        sender.window(1000 * number + 1)
        step.append(bool(sender.state()["paused"]))

    for number in range(1, 4):
        sender.sent(1000 * number - 500, window_runs.PACKET)
        ended(number)
    sender.limited(3500)
    ended(4)
    ended(5)
    sender.sent(5500, window_runs.PACKET)
    ended(6)
    sender.sent(6500, window_runs.PACKET)
    ended(7)
    assert step == [False, False, False, True, True, True, False]


def test_the_kernels_program_observes_pauses(tmp_path):
    file = tmp_path / "observing.py"
    file.write_text(OBSERVING)
    assert header.make(str(file)).kernel_program == ("window_bpf.c",)


@pytest.mark.parametrize("model", ["policer_windows", "smooth_windows", "policer"])
def test_a_network_without_pauses_refuses_them(model):
    with pytest.raises(InputError, match="has no parameter 'application'"):
        load_definition("models", "MODEL", f"{model}:application=pauses")


def test_pauses_on_a_buffer_that_loses_by_a_rule_are_refused():
    with pytest.raises(InputError, match="may pause, and loss is .*; expected"):
        load_definition("models", "MODEL", "ccac2021:loss=deterministic,application=pauses")


@pytest.mark.parametrize("horizon", [5, pytest.param(6, marks=pytest.mark.slow)])
def test_a_window_sender_that_does_not_see_pauses_believes_falsely(horizon, monkeypatch):
    """Its upper bound of the rate then rests on steps in which the link was idle."""
    plain = laws.sender_link_rate()
    monkeypatch.setattr(laws, "sender_link_rate", lambda pauses: plain)
    network = "ccac, buffer infinite, application pauses"
    assert verdict(ANYONE.format(believed="C_U"), network, "C_U >= 100%", horizon=horizon) == "violated"
