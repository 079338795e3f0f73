"""Controllers with state as text: the accepted language, and refusals with their line."""

import re

import pytest

from ccmatic.base import BYTES, CONDITION, InputError
from ccmatic.contracts import load_definition
from ccmatic.controllers import Stateful, load, parse
from ccmatic.questions.query import make

OBSERVATIONS = load_definition("models", "MODEL", "ccac2021").observations
NAMES = ("aimd", "aimd_each_step", "bbr", "bbr_v1", "constant_window", "constant_window_paced", "copa", "cubic")
NAMES += ("hystart", "illinois", "lp", "rocc", "swift", "vegas")

STATE = "window: bytes = above(0)\n"
UPDATE = "def update(window, acked, MSS, step):\n    window = window + MSS\n"
SEND = "def send(window):\n    return window\n"


def read(source):
    return parse(source, "mine", "mine.py", observations=OBSERVATIONS)


def updated(body, state=STATE, parameters="window, acked, lost, delay, time, timeout, MSS, R_m, D, step"):
    """A controller that does this once a step; it begins in line 3, if state is one line."""
    return f"{state}def update({parameters}):\n    {body}\n{SEND}"


@pytest.mark.parametrize("name", NAMES)
def test_each_controller_is_read(name):
    controller = load(name, observations=OBSERVATIONS)
    assert isinstance(controller, Stateful) and "window = " in controller.pretty()


def test_state_has_units_and_what_it_may_be_at_first():
    state = load("aimd", observations=OBSERVATIONS).state
    found = {memory.name: (memory.unit, memory.kind) for memory in state}
    assert found["window"] == (BYTES, "above") and found["recover"] == (BYTES, "anything")
    assert found["changed"] == (CONDITION, "equal")


REFUSED = [
    (STATE + SEND, 2, "found state alone, expected also update(…)"),
    (STATE + "other: bytes = 0\n" + UPDATE + SEND, 2, "`other` is never set by `update`"),
    (STATE + UPDATE, 1, "found no function `send`"),
    (UPDATE + "def send(MSS):\n    return MSS\n", 1, "found `update` alone, expected also state that it sets"),
    ("window: packets = 3\n" + UPDATE + SEND, 1, "`window` is in `packets`, expected a unit"),
    ("window: bytes = R_m\n" + UPDATE + SEND, 1, "sets `window` (bytes) to `R_m` (time), expected the same unit"),
    (
        "window: bytes = above(1, 2)\n" + UPDATE + SEND,
        1,
        "found `above(1, 2)`, expected a number, anything(), above(a)",
    ),
    ("window: bytes\n" + UPDATE + SEND, 1, "expected state such as `window: bytes = above(0)`"),
    ("acked: bytes = 0\n" + UPDATE + SEND, 1, "declares `acked`, which has a meaning already"),
    ("on: condition = 3\n" + UPDATE + SEND, 1, "`on` is a condition, expected True, False or anything()"),
    (updated("window = time"), 3, "sets `window` (bytes) to `time` (time), expected the same unit"),
    (updated("window = acked + R_m"), 3, "adds `R_m` (time) to `acked` (bytes)"),
    (updated("window = window * acked"), 3, "multiplies `window` by `acked`"),
    (updated("return window"), 3, "found `return window`, expected `if`, `assume(…)` or an assignment"),
    (updated("window = any_of(MSS)"), 3, "found `any_of(MSS)` in a term, expected it alone"),
    (updated("window = any_of(MSS, R_m)"), 3, "sets `window` (bytes) to `R_m` (time)"),
    (updated("window = MSS + any_of(MSS, 2 * MSS)"), 3, "in a term, expected it alone"),
    (updated("window = any_of(MSS, 2 * MSS)\n    window = window + MSS"), 4, "after the network has chosen it"),
    (updated("window = acked[MSS]"), 3, "found `acked[MSS]`, expected a time before made of R_m, D, step"),
    (updated("window = acked[time]"), 3, "found `acked[time]`, expected a time before"),
    (updated("window = window + step[step]"), 3, "found `step[step]`, expected `step`"),
    (updated("if timeout > 0:\n        window = MSS"), 3, "found condition `timeout`, expected a term"),
    (updated("assume(window)\n    window = MSS"), 3, "found `window`, expected a comparison"),
    (updated("window = acknowledged"), 3, "unknown name `acknowledged`"),
    (updated("window = window + MSS", parameters="MSS"), 3, "`window` is not assigned on every path that leads here"),
    (STATE + UPDATE + "def send(window):\n    return 0\n", 5, "returns a window of `0`, expected one above 0"),
    (STATE + UPDATE + "def send(window):\n    return window, 0\n", 5, "returns a rate of `0`, expected one above 0"),
    (STATE + UPDATE + "def send(R_m):\n    return 2 * R_m\n", 5, "(time), expected a window (bytes)"),
    (STATE + UPDATE + "def send(window):\n    return window, window\n", 5, "(bytes), expected a rate (rate)"),
    (
        STATE + UPDATE + "def send(window):\n    return\n",
        5,
        "found `return`, expected a window, a rate, or a window and a",
    ),
    (STATE + UPDATE + "def send(window):\n    return ()\n", 5, "found `return ()`, expected a window, a rate, or a"),
    (STATE + UPDATE + "def send(window, acked):\n    return acked\n", 4, "`send` reads `acked`, expected only state"),
    (
        STATE + UPDATE + "def send(window, MSS, R_m):\n    if window > MSS:\n        return window\n"
        "    return window, window / R_m\n",
        4,
        "returns a window, a rate, or both on some paths only",
    ),
    ("def rate(MSS, R_m):\n    return MSS / R_m\n", 1, "it sends at a rate of beliefs (`rate`)"),
]


@pytest.mark.parametrize("source, line, fragment", REFUSED)
def test_mistakes_are_told_with_their_line(source, line, fragment):
    with pytest.raises(InputError) as caught:
        read(source)
    assert fragment in caught.value.message
    assert (caught.value.file, caught.value.line) == ("mine.py", line)


def test_without_a_model_of_windows_it_is_refused():
    with pytest.raises(InputError, match="senders of this model send at rates; expected"):
        parse(STATE + UPDATE + SEND)


RATE = "def rate({}, MSS, R_m):\n    return MSS / R_m\n"


@pytest.mark.parametrize("name", ["cwnd", "ssthresh", "inflight", "srtt", "acked", "lost"])
def test_a_function_of_a_senders_own_numbers_is_shown_the_form_with_state(name):
    with pytest.raises(InputError) as caught:
        parse(RATE.format(name), "mine", "mine.py")
    message = caught.value.message
    assert (caught.value.file, caught.value.line) == ("mine.py", 1)
    assert f"unknown parameter `{name}`" in message and "C_L, C_" in message
    assert all(part in message for part in ("window: bytes = ", "def update(", "def send(", "docs/stateful.md"))


@pytest.mark.parametrize("name, written", [("inflight", "sent - acked - lost"), ("rtt", "R_m + delay")])
def test_what_a_sender_by_a_window_does_not_observe_is_told_in_what_it_does(name, written):
    assert read(
        updated(f"if {written} > 0:\n        window = MSS", parameters="window, sent, acked, lost, delay, MSS, R_m")
    )
    with pytest.raises(InputError, match=re.escape(f"for `{name}` write {written}")):
        read(updated("window = MSS", parameters=f"{name}, MSS"))


@pytest.mark.parametrize(
    "model, source, other",
    [
        ("ccac", STATE + UPDATE + SEND, "ccac_windows"),
        ("cbr_delay", STATE + UPDATE + SEND, "cbr_delay_windows"),
        ("varying", STATE + UPDATE + SEND, "ccac_windows"),
        ("ideal_windows", RATE.format("C_L"), "ideal"),
        ("ccac2021:R=2", RATE.format("C_L"), "ccac"),
    ],
)
def test_a_controller_of_the_other_kind_is_told_its_model(model, source, other):
    query = make(model, "infinite", 5, property="avoids", thresholds={"what": "S[1] < 0"})
    with pytest.raises(InputError, match=f"--model {other}$"):
        query.controller(source)
