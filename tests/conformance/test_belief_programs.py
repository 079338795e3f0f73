"""Programs over a window: what their language refuses, and that a belief of one text is the same in every world."""

import subprocess
import sys
from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.base import BYTES, RATE, TIME, InputError
from ccmatic.contracts import ObservationWindow, Program, RunningMax, StateBelief, load_definition, sender_belief
from ccmatic.worlds.c.window import window_functions
from support.machine import needs_compiler

C_L = "def C_L(acked, D, step):\n    return max((acked - acked[k]) / (k + D) for k in past)\n"

REFUSED = {
    "def C_L(acked):\n    return acked": "`C_L` (rate) is bytes, expected the same unit",
    "def C_L(acked, k):\n    return acked": "unknown parameter `k`",
    "def C_L(acked, step):\n    return acked[acked] / step": "expected a time before, such as `acked[k]`",
    "def C_L(acked, step):\n    return max(acked / step for k in range(3))": "expected `for k in past`",
    "def C_L(acked, step):\n    return max(acked / step for k in since(j))": "goes over `since(j)`",
    "def C_L(acked, step):\n    return max(acked / step for acked in past)": "which has a meaning already",
    "def C_L(acked, lost, step):\n    return acked * lost / step": "multiplies `acked` by `lost`",
    "def sent(acked):\n    return acked": "defines `sent`, which has a meaning already",
    "x = 1": "expected only functions",
    "def C_L(acked, step):\n    return": "expected a term after it",
}


SAMPLES = (
    "def C_L(acked, R_m, D, time, step):\n    return max(\n        acked / (3 * step) for k in past if {}\n    )\n"
)

#: Conditions on what came a time before, which lies in the window; and others that read what is to come.
BEFORE = [
    *("acked[k - step] > 0", "acked[time - k] > 0", "acked[R_m - step] > 0", "acked[max(0, D - step)] > 0"),
    *("all(acked[k - j - step] > 0 for j in since(k))", "any(acked[time - j - step] > 0 for j in since(time))"),
]
TO_COME = [
    *("acked[k - 2 * step] > 0", "acked[D - step] > 0", "acked[step - R_m] > 0", "acked[min(k, D - k)] > 0"),
    *("all(acked[j - step] > 0 for j in since(k))", "all(acked[k - j - 2 * step] > 0 for j in since(k))"),
]


@pytest.mark.parametrize("test", BEFORE)
def test_a_program_reads_what_came_before(test):
    Program(SAMPLES.format(test), {"C_L": RATE})


@pytest.mark.parametrize("test", TO_COME)
def test_a_program_that_may_read_a_step_to_come_is_refused(test):
    """With a solver's unknowns it would read later observations, and in C an unwritten step."""
    with pytest.raises(InputError, match="may read a future step; expected an offset of at least 0") as error:
        Program(SAMPLES.format(test), {"C_L": RATE})
    assert error.value.line == 3


@pytest.mark.parametrize("source", REFUSED)
def test_what_is_no_program_is_refused(source):
    with pytest.raises(InputError) as error:
        Program(source, {"C_L": RATE})
    assert REFUSED[source] in error.value.message and error.value.line


def test_a_message_names_the_line_of_the_file_around_the_text(tmp_path):
    source = "def C_L(acked):\n    return acked\n"
    file = tmp_path / "mine.py"
    file.write_text(f'"""Mine."""\n\nPROGRAM = """\\\n{source}"""\n')
    with pytest.raises(InputError) as error:
        Program(source, {"C_L": RATE}, str(file))
    assert error.value.line == 4


def window(**columns):
    """Return a sender's observations of a window, by whole steps."""
    x = ObservationWindow(load_definition("models", "MODEL", "ccac"), len(columns["S"]), 1, Fraction(1))
    for t in range(len(columns["S"])):
        row = {name: columns.get(name, columns["S"])[t] for name in ("A", "S", "L", "Ld", "r", "timely", "excess")}
        x.append(Q=columns["Q"][t], F=0, limited=columns["limited"][t], **row)
    return x


def test_samples_go_over_the_window_as_far_as_conditions_hold():
    program = load_definition("models", "MODEL", "ccac").bounds()[1].program
    zero = [0] * 4
    x = window(S=[0, 1, 3, 6], Q=[0, 2, 2, 2], timely=zero, limited=[False, True, False, False])
    # Steps 2 and 3 are utilised, step 1 is limited; a sample of one step is none where D is 1.
    assert [*program.at(x, 3).samples("C_U")] == [(6, 2, False), (5, 1, True)]
    assert [sample[:2] for sample in program.at(x, 3).samples("C_L")] == [(6, 4), (5, 3), (3, 2)]


def test_a_belief_is_rounded_to_the_safe_side_in_c():
    program = Program(C_L + "def half(acked):\n    return acked / 2\n", {"C_L": RATE, "half": BYTES})
    truth = {"start": lambda x, t: True, "true_start": lambda x: 1, "holds": lambda x, bound: True}
    lower = RunningMax.of(program, "C_L", **truth)
    states = [StateBelief.of(program, "half", upper=upper) for upper in (False, True)]
    low, high = (window_functions([lower, state], 1) for state in states)
    assert "ccm_down((uint64_t)((int64_t)w->acked[t]), 2)" in low and "ccm_up" not in low
    assert "ccm_up((uint64_t)((int64_t)w->acked[t]), 2)" in high


def test_c_clips_a_difference_unless_it_is_of_a_later_and_an_earlier_count():
    """A difference that may be negative is clipped at 0. Otherwise it would wrap to a huge number."""
    growing = [
        ("acked - acked[k]", "past"),
        ("sent[k - step] - sent[k]", "past"),
        ("acked - acked[time]", "past"),
        ("acked - acked[max(0, D - step)]", "past"),
        ("acked + C_L * step", "past"),
    ]
    others = [
        ("acked[k] - acked", "past"),
        ("lost - lost[k]", "past"),
        ("sent - acked[k]", "past"),
        ("sent[time - k] - sent[k]", "past"),
        ("admitted", "past"),
    ]
    head = "def C_L(sent, acked, lost, admitted, C_L, D, time, step):"
    for term, over in [*growing, *others]:
        source = f"{head}\n    return max(({term}) / (3 * step) for k in {over})\n"
        program = Program(source, {"C_L": RATE})
        bound = RunningMax.of(
            program, "C_L", start=lambda x, t: True, true_start=lambda x: 1, holds=lambda x, bound: True
        )
        assert ("ccm_amount(" not in window_functions([bound], 1)) == ((term, over) in growing), (term, over)


def test_the_later_of_two_times_is_one_index_in_c():
    source = "def C_L(acked, step):\n    return max(acked[max(0, k - 2 * step)] / step for k in past)\n"
    assert "w->acked[ccm_index(t - (unsigned)(ccm_max(0, (int64_t)k - 2)))]" in _written(source)


def _written(source):
    bound = RunningMax.of(
        Program(source, {"C_L": RATE}), "C_L", start=lambda x, t: True, true_start=lambda x: 1, holds=lambda x, b: True
    )
    return window_functions([bound], 1)


@pytest.mark.parametrize(
    ("test", "checks"),
    [
        ("acked[k] > 0", False),
        ("acked[k - step] > 0", False),
        ("sending[k - step] > 0", False),
        ("acked[step] > 0", False),
        ("all(acked[j] > 0 for j in since(k))", False),
        ("all(sending[j] > 0 for j in since(k))", False),
        ("sending[k] > 0", True),
        ("acked[k + step] > 0", True),
        ("acked[2 * step] > 0", True),
        ("acked[time - k] > 0", True),
    ],
)
def test_c_checks_an_index_only_if_it_may_be_before_the_window(test, checks):
    text = _written(SAMPLES.format(test).replace("acked,", "acked, sending,"))
    assert ("ccm_index(" in text) == checks
    assert checks or "ccm_place(" in text


def test_c_checks_an_index_in_a_function_that_the_first_step_calls_too():
    """The first step has no step before it. Later steps alone need no check."""
    source = "def grew(acked, step):\n    return acked > acked[step]\n\n"
    later = "def q(q, grew, acked, step):\n    return acked if grew{} else q[step]\n\n"
    start = "def q_start(grew, acked):\n    return acked{}\n"
    for at, begins, checks in (("", "", False), ("", " if grew else 0", True), ("[step]", "", True)):
        program = Program(source + later.format(at) + start.format(begins), {"q": BYTES})
        assert ("ccm_index(t - 1)" in window_functions([StateBelief.of(program, "q")], 1)) == checks, (at, begins)


#: Plays random events; the compiler has put a trap before each index outside of its array.
PLAYED = """
from random import Random

from ccmatic.deployment.exporting import header
from ccmatic.worlds.runtime import Library

library = Library(header.make({!r}), ["-fsanitize=bounds", "-fsanitize-undefined-trap-on-error"])
for seed in range(20):
    dice, now, times = Random(seed), 0, []
    sender = library.sender(1500, 1000)
    for _ in range(2000):
        now += dice.choice((0, 1, 100, 100, 1000, 5000, 100_000 * dice.randrange(2)))
        sender.sent(now, 1500)
        times.append(now)
        if dice.randrange(3):
            getattr(sender, dice.choice(("acked", "acked", "acked", "lost", "gave_up")))(now, times.pop(0), 1500)
        sender.rate(now)
"""


@needs_compiler
@pytest.mark.parametrize("controller", ["cc_qdel", "cc_probe_slow"])
def test_c_reads_no_index_outside_of_its_window(controller):
    subprocess.run([sys.executable, "-c", PLAYED.format(controller)], check=True)


def test_c_decides_a_condition_once_that_several_beliefs_repeat():
    text = window_functions(load_definition("models", "MODEL", "ccac").beliefs, 1)
    assert "const bool test_1 = " in text and text.count("(test_1 ? ") == 2


def test_senders_by_a_window_refuse_what_they_do_not_observe():
    program = Program("def F(first_delay, D):\n    return max(0, first_delay - D)\n", {"F": TIME})
    with pytest.raises(InputError, match="do not observe `first_delay`"):
        sender_belief(program, "F", "how long the first byte waited")


@pytest.mark.parametrize(
    "source",
    [
        "def most(most, sent, step):\n    return max(most[step], sent)\n",
        "def sent_before(sent, step):\n    return sent[step]\n\ndef most(sent_before):\n    return sent_before\n",
    ],
)
def test_a_belief_says_what_it_is_where_nothing_came_before(source):
    """The message was about a step -1, and exported C read what no step had written."""
    with pytest.raises(InputError, match="expected a function `most_start`, most in that step") as error:
        StateBelief.of(Program(source, {"most": BYTES}), "most")
    assert error.value.line == 2
    StateBelief.of(Program(source + "\ndef most_start(sent):\n    return sent\n", {"most": BYTES}), "most")


def test_a_time_before_the_window_is_named():
    source = "def most(sent, step):\n    return sent[2 * step]\n\ndef most_start(sent):\n    return sent\n"
    x = window(S=[0, 1], Q=[0, 0], timely=[0, 0], limited=[False, False])
    with pytest.raises(
        InputError, match=r"`sent\[…\]` is read 2 steps back where the window has 1; expected a test"
    ) as e:
        Program(source, {"most": BYTES}).at(x, 1).value("most")
    assert e.value.line == 2


NAMES = ("one", "two", "three")
CHAIN = """\
def one(sent, lost, acked):
    return sent - lost - acked

def two(one):
    return one + one

def three(two):
    return two + two
"""

MODEL = """from ccmatic.contracts import BYTES, Program, StateBelief
from ccmatic.models.ccac import CCAC

PROGRAM = Program({!r}, dict.fromkeys(("one", "two", "three"), BYTES), __file__)
MODEL = CCAC()
MODEL.beliefs = (*MODEL.beliefs, *(StateBelief.of(PROGRAM, name) for name in {}))
"""


def model(folder, order, program=CHAIN):
    file = folder / "mine.py"
    file.write_text(MODEL.format(program, order))
    return load_definition("models", "MODEL", str(file), allow_code=True)


def test_a_belief_that_beliefs_read_in_turn_is_encoded(tmp_path):
    """`one` was not, and a message said that the trace lacks it."""
    assert model(tmp_path, NAMES).closure(["three"]) == {*NAMES}
    controller = "def rate(C_L, three, R_m):\n    return C_L / 2 if three > 16 * C_L * R_m else 2 * C_L\n"
    network = cm.Network(str(tmp_path / "mine.py"), "infinite", 4)
    assert cm.verify(controller, cm.Query(network, "synthesis_invariant")).verdict == "holds"


@pytest.mark.parametrize(
    "order, program, message",
    [
        (NAMES[::-1], CHAIN, "`three` reads `two` at its own step, when that is computed after `three`"),
        (
            ("one",),
            CHAIN.replace("one(", "one(one, ").replace("return sent", "return one"),
            "when that is being computed",
        ),
        (NAMES, CHAIN.replace("two(one)", "two(three, one)").replace("one + one", "three"), "computed after `two`"),
    ],
)
def test_a_belief_that_reads_one_of_its_own_step_that_is_not_known_yet_is_refused(tmp_path, order, program, message):
    """Exported C read what stood there before, and a solver took any value that agrees with itself."""
    with pytest.raises(InputError, match=message):
        model(tmp_path, order, program)
