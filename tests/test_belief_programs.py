"""Programs over a window: what their language refuses, and that a belief of one text is the same in every world."""

from fractions import Fraction

import pytest

from ccmatic.base import BYTES, RATE, TIME, InputError
from ccmatic.compilers.c.window import window_functions
from ccmatic.contracts import Program, RunningMax, StateBelief, Watched, load_definition, sender_belief

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
    """What a sender has seen of a window, by whole steps."""
    x = Watched(load_definition("models", "MODEL", "ccac"), len(columns["S"]), 1, Fraction(1))
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
    """What is not known to be at least 0 counts as 0 where it is less: without that it would wrap to a huge number."""
    growing = [
        ("acked - acked[k]", "past"),
        ("sent[k - step] - sent[k]", "past"),
        ("acked - acked[time]", "past"),
        ("acked + C_L * step", "past"),
    ]
    others = [
        ("acked[k] - acked", "past"),
        ("lost - lost[k]", "past"),
        ("sent - acked[k]", "past"),
        ("sent[k - 2 * step] - sent[k]", "past"),
        ("acked - acked[D - 2 * step]", "past"),
        ("admitted", "past"),
        ("sent[k - step] - sent[k]", "since(time)"),
    ]
    head = "def C_L(sent, acked, lost, admitted, C_L, D, time, step):"
    for term, over in [*growing, *others]:
        source = f"{head}\n    return max(({term}) / (3 * step) for k in {over})\n"
        program = Program(source, {"C_L": RATE})
        bound = RunningMax.of(
            program, "C_L", start=lambda x, t: True, true_start=lambda x: 1, holds=lambda x, bound: True
        )
        assert ("ccm_amount(" not in window_functions([bound], 1)) == ((term, over) in growing), (term, over)


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
