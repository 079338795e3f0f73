"""Formulas of learners: the shipped ones are unchanged, and invalid ones are refused with file and line."""

import json

import pytest

from ccmatic.base import InputError, definitions
from ccmatic.controllers import signal
from ccmatic.language import value
from support import ROOT

SAVED = json.loads((ROOT / "tests" / "saved" / "formulas.json").read_text())


def test_the_shipped_formulas_are_those_that_were_saved():
    for kind, folder in signal.FOLDERS.items():
        assert sorted(SAVED["intervals"][0][kind]) == definitions.shipped(folder)


@pytest.mark.slow
def test_formulas_say_what_they_said_as_functions_of_arrays():
    """Up to the rounding of single floats: the order of some operations is another one."""
    pytest.importorskip("gymnasium", reason="no gymnasium: pip install -e '.[rl]'")
    jax = pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
    import jax.numpy as jnp
    import numpy as np

    from ccmatic.learning.envs import beliefs, particles, signals

    def array(values):
        return np.array(values, np.float32)

    first, rtt = signals.Interval(*map(array, SAVED["intervals"][0]["interval"])), array(SAVED["rtt"])
    formulas = [signal.load(kind, n) for kind in signal.FOLDERS for n in definitions.shipped(signal.FOLDERS[kind])]
    memory = signal.joined(signal.shared_memory(), *(each.memory for each in formulas))
    known = signals.first(
        first.seconds,
        rtt,
        jnp.int32(1500),
        memory,
        bounds=beliefs.begin(jnp.ceil(rtt / first.seconds + 0.5), jnp.float32(1500)),
        particles=particles.begin(jax.random.key_data(jax.random.key(3)), rtt, 20),
        capacity=np.full(rtt.shape, 1.5e6, np.float32),
    )
    after = jax.jit(lambda known, now: known.after(now, memory))
    for saved in SAVED["intervals"]:
        known = after(known, signals.Interval(*map(array, saved["interval"])))
        known = known._replace(action=array(saved["action"]))
        power = known.value(signal.load("reward", "power").term)
        for each in formulas:
            others = {"observe": {"reward": power}, "reward": {}, "act": {"rate": array(SAVED["rate"])}}[each.kind]
            found, expected = known.value(each.term, **others), array(saved[each.kind][each.name])
            np.testing.assert_allclose(found, expected, rtol=5e-6, atol=2e-5, err_msg=f"{each.kind} {each.name}")


@pytest.mark.parametrize("kind, source, line, message", [
    ("observe", "def observe(rtt):\n    return [rtt]\n", 1, "`observe` returns time, expected number"),
    ("observe", "def observe(rtt, second):\n    return rtt / second\n", 1, "returns one number, expected a list"),
    ("observe", "def observe(capacity, mbit):\n    return [capacity / mbit]\n", 1, "reads `capacity`"),
    ("observe", "def observe(relative_power):\n    return [relative_power]\n", 1, "reads `capacity`"),
    ("observe", "def observe(least_rtt_before):\n    return [1]\n", 1, "a measure that reads one interval alone"),
    ("observe", "def observe(thruput):\n    return [1]\n", 1, "unknown name `thruput`, expected what is measured; "),
    ("observe", "def observe(rtt, sent):\n    return [rtt + sent]\n", 2, "adds `sent` (bytes) to `rtt` (time)"),
    ("observe", "def observe(rtt):\n    return [log(rtt)]\n", 2, "found `rtt` (time), expected a number"),
    ("observe", "def observe(rtt):\n    return []\n", 1, "`observe` returns an empty list, expected at least"),
    ("observe", "def observe(lost, rtt):\n    if lost > 0:\n        return [1, 0]\n    return [0, rtt, 2]\n", 4,
     "returns [0, time, number] here and [number, 0] before, expected the same unit on all paths"),
    ("observe", "def observe(lost):\n    if lost > 0:\n        return 0\n    return [1]\n", 4,
     "returns [number] here and 0 before, expected the same unit on all paths"),
    ("observe", "import os\n", 1, "found `import os`, expected only a docstring, constants"),
    ("observe", "def other(rtt, second):\n    return rtt / second\n", 1, "found no function `observe`"),
    ("reward", "def reward(acked):\n    return acked\n", 1, "`reward` returns bytes, expected number"),
    ("act", "def act(rate, action):\n    return rate * action\n", 1, "found no bounds of actions"),
    ("act", "def first_x():\n    return 1\ndef bounds():\n    return [0, 1]\ndef act(rate):\n    return rate\n", None,
     "found `first_x` without `next_x`, expected both"),
    ("act", "def next_x():\n    return 1\n", 1, "found no `first_x` before `next_x`, expected one"),
    ("reward", "def first_x(rtt):\n    return rtt\n", 1, "`first_x` is no constant number"),
    ("reward", "def first_least_rtt(R_m):\n    return R_m\n", 1, "which has a meaning already"),
])  # fmt: skip
def test_what_is_no_formula_is_refused(kind, source, line, message, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(source)
    with pytest.raises(InputError) as refused:
        signal.load(kind, str(file))
    assert message in refused.value.message
    assert (refused.value.file, refused.value.line) == (str(file), line)


def test_a_list_may_depend_on_an_if(tmp_path):
    """Each term of the list has the `if`; 0 fits the unit of the other path."""
    file = tmp_path / "mine.py"
    file.write_text(
        "def observe(lost, acked):\n    if lost > acked:\n        return [1, 0]\n    return [0, lost / acked]\n"
    )
    read = signal.load("observe", str(file))
    assert read.size == 2
    for lost, expected in ((4, (1, 0)), (1, (0, 1 / 2))):
        assert value(read.term, {"lost": lost, "acked": 2}) == expected
