"""The beliefs of exported controllers are true at the end of every step, on a link that knows nothing of the models.

tests/link_model is that link, in C, with its own sender and application around the exported header. It shares no code
with the simulator or the emulator. A seed selects rates from 1 kbit/s to 100 Gbit/s, R_m from 10 us to 2 s, buffers
from a packet to 3000, and the delays of packets within D.
"""

import shutil
import subprocess
from itertools import combinations_with_replacement, product

import pytest

from ccmatic.deployment.exporting import header
from ccmatic.deployment.exporting.targets import write
from support import TESTS
from support.sampling import each_nth

SOURCE = TESTS / "link_model" / "link_model.c"
CONTROLLERS = ("cc_qdel", "cc_probe_slow", "g3_1")

#: By name, the bit of `enum trouble` in tests/link_model/scenario.h.
TROUBLES = {
    "none": 0,
    "idle": 1,
    "reordering": 2,
    "late_losses": 4,
    "spurious": 8,
    "R_m_falls": 16,
    "R_m_grows": 32,
    "R_m_unknown": 64,
    "lazy": 128,
    "merged_acks": 256,
    "any_rate": 512,
    "hours": 1024,
    "timer": 2048,
    "bursts": 4096,
}

#: Of what befalls a sender, what does not change R_m, what does and what makes it doubt, and all but hours.
STEADY = ("idle", "reordering", "late_losses", "lazy", "merged_acks", "any_rate", "spurious")
CHANGING = ("spurious", "R_m_falls", "R_m_grows", "R_m_unknown")
TIMED = ("timer", "idle", "merged_acks", "R_m_falls")
TOGETHER = [STEADY, CHANGING, TIMED, ("reordering", "R_m_grows"), (*STEADY, *CHANGING[1:])]

#: Losses in the latest step, by a counter.
LOST = "(int64_t)w->{0}[t] - ((int64_t)w->{0}[ccm_place(t - 1)])"

#: Mistakes in what is exported: the controller and the trouble that show each, what is written and what stands there.
MISTAKES = [
    ("cc_qdel", "none", "(uint64_t)((int64_t)k)", "(uint64_t)((int64_t)k + 1)"),
    ("g3_1", "none", "(uint64_t)((int64_t)k)", "(uint64_t)((int64_t)k - 1)"),
    ("cc_qdel", "none", "w->last_delay[t] >= 1)", "w->last_delay[t] > 1)"),
    ("cc_qdel", "idle", ";", " && (!(w->limited[t]));"),
    ("cc_probe_slow", "idle", "0", "(w->limited[t] ? ccm_amount((int64_t)(w->sent[t] - w->sent[t - 1])) : 0)"),
    (
        "cc_probe_slow",
        "lazy",
        "packets < 2;",
        "packets < 2 || ccm_less(s->first_out, s->start) > ccm_down(2 * s->step, ccm_at_most(64, packets));",
    ),
    ("g3_1", "late_losses", "known ?", "known && sent_ns > (early ? s->first_out : s->first_out_before) ?"),
    ("cc_probe_slow", "none", ", 2));", ", 3));"),
    ("cc_probe_slow", "timer", LOST.format("timely"), LOST.format("excess")),
    ("cc_probe_slow", "late_losses", LOST.format("lost"), LOST.format("excess")),
    ("cc_qdel", "bursts", "true", "s->burst_before <= s->w.packet"),
    ("cc_probe_slow", "spurious", "", " && !(w->doubtful[t])"),
    ("cc_probe_slow", "none", "w->first_delay[t] >= 5)", "w->first_delay[t] >= 3)"),
]

pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc on this machine")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program that judges a controller, with addresses and undefined behaviour checked unless it is to be fast."""
    built = {}

    def build(name, jitter="1", fast=False):
        key = name, jitter, fast
        if key not in built:
            folder = tmp_path_factory.mktemp(name)
            write(header.make(name, jitter=jitter), "c", folder)
            checked = ["-O2"] if fast else ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
            flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", *checked, f"-I{folder}", f'-DHEADER="{name}.h"']
            built[key] = folder / "link_model"
            subprocess.run(["gcc", *flags, SOURCE, "-o", built[key]], check=True)
        return built[key]

    return build


def run(built, troubles, seed=1, runs=100, steps=100):
    """Run the compiled program for some runs and steps, or for a week."""
    arguments = [seed, runs, steps, sum(TROUBLES[name] for name in troubles)]
    return subprocess.run([built, *map(str, arguments)], capture_output=True, text=True)


def judged(built, troubles, **options):
    """Return the number of judged ends of steps. A false belief fails the test."""
    done = run(built, troubles, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout.split()[0])


@pytest.mark.parametrize("name, trouble", each_nth(9, product(CONTROLLERS, TROUBLES)))
def test_beliefs_are_true(name, trouble, program):
    steps = 400 if trouble in ("R_m_grows", "R_m_unknown") else 100
    assert judged(program(name), [trouble], steps=steps) >= 5000


@pytest.mark.parametrize("troubles", each_nth(3, [(troubles,) for troubles in TOGETHER]), ids="-".join)
@pytest.mark.parametrize("name", each_nth(2, CONTROLLERS))
def test_troubles_together(name, troubles, program):
    assert judged(program(name), troubles, steps=400) >= 5000


@pytest.mark.slow
def test_a_week(program):
    """Bursts and pauses of up to an hour."""
    done = run(program("cc_probe_slow", fast=True), ["hours"], runs=1, steps=10**9)
    steps, seconds = map(int, done.stdout.split())
    assert steps > 10**5 and seconds >= 7 * 24 * 3600


@pytest.mark.parametrize("name, trouble, written, right", each_nth(4, MISTAKES))
def test_mistakes_are_found(name, trouble, written, right, program, tmp_path):
    built = program(name, fast=True)
    text = built.with_name(f"{name}.h").read_text()
    assert right in text
    (tmp_path / f"{name}.h").write_text(text.replace(right, written))
    command = ["gcc", "-std=c11", "-O1", f"-I{tmp_path}", f'-DHEADER="{name}.h"', SOURCE, "-o", tmp_path / "mistaken"]
    subprocess.run(command, check=True)
    done = run(tmp_path / "mistaken", [trouble], runs=400)
    assert done.returncode == 1 and done.stdout.startswith("false: ")


@pytest.mark.slow
def test_ten_million_steps(program):
    """Every pair of troubles and all together, addresses and undefined behaviour checked, on other links than above."""
    mixes = [*combinations_with_replacement(TROUBLES, 2), *TOGETHER, tuple(TROUBLES)]
    # At rates of nobody, with losses found late or taken back, C_Llambda may be above C (docs/reference/deploy.md).
    mixes = [set(mix) for mix in mixes if "any_rate" not in mix or not {"late_losses", "spurious"} & set(mix)]
    each = ((program(name), mix) for name in CONTROLLERS for mix in mixes)
    steps = sum(judged(*case, seed=10**6, runs=100, steps=800) for case in each)
    print(f"{steps} steps judged")
    assert steps >= 10**7, steps


@pytest.mark.parametrize("jitter", ["1/3", "0.333333"])
def test_other_bounds_of_jitter(jitter, program):
    assert judged(program("cc_qdel", jitter), ["none"]) >= 5000
