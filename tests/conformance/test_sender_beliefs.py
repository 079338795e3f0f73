"""Beliefs of window senders, which controllers with state read: they are true and follow from observations.

Also: controllers that are refused.
"""

from fractions import Fraction
from random import Random

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Outcome
from ccmatic.base import InputError
from ccmatic.contracts import load_definition
from ccmatic.controllers import parse
from ccmatic.deployment.exporting import header
from ccmatic.networks.simulation import JITTER, Path, Simulation, WindowFlow
from ccmatic.worlds.c.update import LINE_RATE
from ccmatic.worlds.runtime.library import Library, StatefulSender
from support.believing import ANYONE, PLANTED
from support.machine import needs_compiler

#: Models by what a file of one says.
IMPORTS = "from ccmatic.models.ccac2021 import *\n\n"
PUBLISHED = "CCAC2021()"
OF_EXECUTIONS = "CCAC2021(begins=Start.ANYWHERE, delay=DelayMeasurement.CONSISTENT, timer=Timer.UNDETECTED_LOSS)"
MODELS = (
    PUBLISHED,
    OF_EXECUTIONS,
    OF_EXECUTIONS.replace("begins", "waste=Waste.CONSTANT_RATE, begins"),
    "CCAC2021(waste=Waste.NON_COMPOSING)",
    "CCAC2021(R=2)",
    "CCAC2021(delay=DelayMeasurement.PER_FLOW)",
)

FALSE = {"C_L": "C_L_f[0][T-1] > C", "C_U": "C_U_f[0][T-1] < C"}


def asked(folder, text, what, horizon=6, buffer="1", given=""):
    """A Query on the model of a file's text."""
    (folder / "mine.py").write_text(text if "MODEL" in text else f"{IMPORTS}MODEL = {text}\n")
    network = cm.Network(str(folder / "mine.py"), buffer, horizon, delay="executions")
    return cm.Query(network, "avoids", what=what, given=given)


def verified(query, believed):
    return cm.verify(query.read_controller(ANYONE.format(believed=believed)), query)


@pytest.mark.parametrize("believed", FALSE)
def test_what_is_believed_is_true(believed, tmp_path):
    """Whatever is sent."""
    assert verified(asked(tmp_path, OF_EXECUTIONS, FALSE[believed]), believed).holds


@pytest.mark.slow
@pytest.mark.parametrize("buffer", ["infinite", "1/4"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("believed", FALSE)
def test_what_is_believed_is_true_on_every_network(believed, model, buffer, tmp_path):
    assert verified(asked(tmp_path, model, FALSE[believed], 7, buffer), believed).holds


@pytest.mark.parametrize(
    "believed, old, new",
    [
        ("C_L", "(2 * step + D)", "(2 * step)"),
        ("C_U", "(2 * step - D)", "(2 * step)"),
        ("C_U", "> sent[R_m", ">= sent[R_m"),
    ],
)
def test_a_wrong_sample_makes_it_false(believed, old, new, tmp_path):
    """Such as one of steps in which nothing was sent."""
    planted = PLANTED.format(flows=1, believed=believed, old=old, new=new)
    found = verified(asked(tmp_path, planted, FALSE[believed], buffer="infinite"), believed)
    assert found.verdict == "violated" and cm.replay(found.trace, allow_code=True).outcome is Outcome.BREAKS


def test_a_trace_in_which_another_is_believed_is_refused():
    network = cm.Network("ccac_windows", "1", 6, delay="executions")
    query = cm.Query(network, "avoids", what="C_U_f[0][T-1] < C_U_f[0][T-2]")
    trace = verified(query, "C_U").trace
    assert cm.replay(trace).outcome is Outcome.BREAKS
    C_U = [*trace.columns["C_U"][:-1], trace.columns["C_U"][-1] + Fraction(1, 1000)]
    faults = cm.replay(trace.with_columns(C_U=tuple(C_U))).faults
    assert any("state_is_the_controllers" in str(fault) for fault in faults)


@pytest.mark.slow
def test_beside_others_the_upper_bound_turns_false():
    def beside(what):
        query = cm.Query(cm.Network("two_flows", "infinite", 6, delay="executions"), "avoids", what=what)
        return cm.verify([ANYONE.format(believed="C_L, C_U"), "anyone"], query)

    assert beside(FALSE["C_L"]).holds
    assert beside(FALSE["C_U"]).verdict == "violated"


@needs_compiler
def test_simulated_senders_believe_what_is_true():
    library, learned = Library(header.make("aimd_believing")), 0
    for seed in range(6):
        rng = Random(seed)
        bdp, room, jitter = rng.choice((4, 10, 25)), rng.choice((8, 40)), rng.choice(sorted(JITTER))
        path = Path("cbr_delay", 1500 * bdp, 1, 1500, 1, 1500 * room)
        flow = WindowFlow(Simulation(path, seed, jitter=jitter), StatefulSender(library, 1500))
        for _ in range(60):
            flow.step()
            state = flow.sender.state()
            assert state["C_L"] <= path.rate <= state["C_U"]
        learned += state["C_U"] <= 2 * path.rate < LINE_RATE
    assert learned > 1


SOURCE = """window: bytes = above(0)
{state}def update(window, {reads}, MSS):
    {body}
def send(window{sends}):
    return window
"""


#: What is told, and where, of what SOURCE has with these changes.
WRONG = {
    "2: unknown parameter `q_U`, expected state, an observation, a belief or a constant": {"reads": "q_U"},
    "3: found `C_L[step]`, expected `C_L`, or state in which it was kept": {
        "reads": "C_L, step",
        "body": "window = C_L[step] * step",
    },
    "3: found `max_over(C_L, 4)`, expected `max_over(NAME, STEPS)` of the name of an observation": {
        "reads": "C_L, R_m",
        "body": "window = max_over(C_L, 4) * R_m",
    },
    "3: assigns `C_L`, which has a meaning already; expected another name": {"reads": "C_L", "body": "C_L = 2 * C_L"},
    "3: `acked` is not a parameter of `update`, expected it to be": {"reads": "C_L", "body": "window = acked"},
    "3: sets `window` (bytes) to `C_L` (rate), expected the same unit": {"reads": "C_L", "body": "window = C_L"},
    "3: sets `window` by `delay`, which is not always known; expected `delay` in a comparison": {
        "reads": "qdel_L, R_m",
        "body": "window = MSS * qdel_L / R_m",
    },
    "4: `send` reads `qdel_L`, expected only state and constants; `update` may read it": {"sends": ", qdel_L"},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_with_a_belief_is_told(message):
    source = SOURCE.format(**{"state": "", "reads": "lost", "body": "window = MSS", "sends": "", **WRONG[message]})
    with pytest.raises(InputError) as error:
        parse(source, "mine", "mine.py", observations=load_definition("models", "MODEL", "ccac2021").observations)
    assert str(error.value).startswith(f"mine.py:{message}")


def test_a_belief_that_a_model_lacks_is_told():
    """Where no delay is measured."""
    source = SOURCE.format(state="", reads="C_U, R_m", body="window = C_U * R_m", sends="")
    lacks = load_definition("models", "MODEL", "ccac2021_anywhere").observations
    with pytest.raises(InputError, match="mine.py:2: unknown parameter `C_U`"):
        parse(source, "mine", "mine.py", observations=lacks)


def test_a_controller_may_believe_something_else():
    """State of its own hides what the model's senders believe by that name."""
    body = "C_L = MSS / R_m\n    window = C_L * R_m"
    source = SOURCE.format(state="C_L: rate = 0\n", reads="C_L, R_m", body=body, sends="")
    made = parse(source, observations=load_definition("models", "MODEL", "ccac2021").observations)
    assert [memory.belief for memory in made.state] == [None, None] and "acked" not in made.parameters


def test_what_is_sent_may_be_believed_alone():
    """For a controller without state of its own."""
    made = parse(
        "def send(C_L, R_m):\n    return 2 * C_L * R_m\n",
        observations=load_definition("models", "MODEL", "ccac2021").observations,
    )
    assert [memory.name for memory in made.state] == ["C_L"]


def test_a_controller_that_believes_may_be_begun_anywhere():
    """Its state then has any initial values; its beliefs are the same."""
    controller = cm.load_controller(
        "cc_qdel_sender", cm.Query(cm.Network("ccac_windows", "1", 5), "avoids", what="T < 0")
    )
    anywhere = controller.begun_anywhere(["pace"])
    assert anywhere.beliefs == controller.beliefs and anywhere.parameters == controller.parameters
    kinds = {
        memory.name: (before.kind, memory.kind) for before, memory in zip(controller.state, anywhere.state, strict=True)
    }
    assert kinds == {"pace": ("above", "anything"), "C_L": ("between", "between")}
