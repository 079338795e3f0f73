"""Controllers with state as C: in the kernel as in user space, from declared state on; and what is refused."""

import shutil
import subprocess
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest

from ccmatic.base import InputError
from ccmatic.deployment.exporting import header
from ccmatic.deployment.exporting.stateful import StatefulExport
from ccmatic.deployment.exporting.targets import write
from ccmatic.worlds.runtime.library import Library, StatefulSender
from conformance.updates import STRICT, UPDATES, in_c, library
from conformance.worlds import Cell, Disagreement, check
from support import ROOT, kernel_updates
from support.kernel_updates import Recorded
from support.machine import needs_bpf, needs_compiler
from support.sequences import PACKET
from support.window_senders import CONTROLLERS

ONE_THIRD = Fraction(4096 // 3, 4096)  # as it is kept

every_controller = pytest.mark.parametrize("name", CONTROLLERS)


def recorded(name, rng, count):
    """Return senders in C whose steps through the sequences agree with the controller's own Python."""
    senders = []

    def begin(library, packet):
        senders.append(Recorded(library, packet))
        return senders[-1]

    check(Cell(replace(UPDATES, worlds={"C": partial(in_c, begin=begin)}), name, "C"), rng, count)
    return senders


@needs_bpf
@pytest.mark.parametrize("name", ["copa", "cubic", "illinois"])
def test_the_kernel_agrees(name, tmp_path):
    kernel_updates.check(kernel_updates.build(library(name).export, tmp_path), recorded(name, 0, 50))


@needs_bpf
@pytest.mark.slow
@every_controller
def test_a_hundred_thousand_sequences(name, tmp_path):
    in_kernel = kernel_updates.build(library(name).export, tmp_path)
    for seed in range(200):
        kernel_updates.check(in_kernel, recorded(name, seed, 500))


def refused(source, tmp_path, model=None):
    """The message with which a controller is refused."""
    (tmp_path / "mine.py").write_text(source)
    with pytest.raises(InputError) as caught:
        header.make(str(tmp_path / "mine.py"), model).header()
    return str(caught.value)


HALVES = """window: bytes = above(0)


def update(window, lost, step):
    window = {became}


def send(window):
    return window
"""


def test_what_no_sender_knows_is_refused_at_its_line(tmp_path):
    (tmp_path / "slow.py").write_text("from ccmatic.models.ccac2021 import CCAC2021\n\nMODEL = CCAC2021(R=2)\n")
    source = HALVES.format(became="served").replace("lost", "served")
    assert "mine.py:4: reads `served`, which no sender knows where R_m is several steps" in refused(
        source, tmp_path, str(tmp_path / "slow.py")
    )


def test_what_needs_more_than_64_bits_is_refused(tmp_path):
    for became in ("5000 * lost", "1e999 * lost"):
        message = refused(HALVES.format(became=became), tmp_path)
        assert "mine.py:5: " in message and "needs more than 64 bits" in message and len(message) < 300


@needs_compiler
def test_of_a_range_the_least_is_kept(tmp_path):
    (tmp_path / "least.py").write_text(HALVES.format(became="between(lost, 2 * lost)"))
    sender = StatefulSender(Library(header.make(str(tmp_path / "least.py")), STRICT), PACKET)
    sender.lost(0, 0, 3 * PACKET)
    assert sender.window(10**9) == 3 * PACKET


def test_what_was_seen_long_before_is_refused(tmp_path):
    assert "mine.py:5: `lost` of 65 steps before" in refused(HALVES.format(became="lost[65 * step]"), tmp_path)


def test_state_that_is_no_name_in_c_is_refused(tmp_path):
    source = HALVES.format(became="lost").replace("window", "double")
    assert "'double' is no name in C" in refused(source, tmp_path)


def test_a_model_without_windows_is_refused(tmp_path):
    assert "expected another model" in refused(HALVES.format(became="lost"), tmp_path, "ccac")


@needs_compiler
def test_state_begins_as_declared(tmp_path):
    """As the first or least that it may be, else with ten packets, in an R_m."""
    kinds = {
        "window: bytes": ("above(3 * MSS)", 13 * PACKET),
        "pace: rate": ("anything()", 10 * PACKET),
        "since: time": ("between(R_m / 3, R_m)", ONE_THIRD),
        "gain: number": ("any_of(5 / 4, 1)", Fraction(5, 4)),
        "least: bytes": ("2 * MSS", 2 * PACKET),
        "told: condition": ("True", 1),
        "open: condition": ("anything()", 0),
    }
    names = {declared.partition(":")[0]: value for declared, (_, value) in kinds.items()}
    lines = [f"{declared} = {value}\n" for declared, (value, _) in kinds.items()]
    updates = [f"    {name} = {'timeout' if value in (0, 1) else name}\n" for name, value in names.items()]
    source = "".join(lines) + f"\ndef update({', '.join(names)}, timeout):\n" + "".join(updates)
    (tmp_path / "begins.py").write_text(source + "\ndef send(window, pace):\n    return window, pace\n")
    sender = StatefulSender(Library(header.make(str(tmp_path / "begins.py")), STRICT), PACKET)
    assert sender.state() == names and (sender.window(), sender.rate_per_step()) == (13 * PACKET, 10 * PACKET)


@needs_compiler
def test_a_timeout_is_of_the_step_in_which_it_fires(tmp_path):
    """R_m is a step. An event at the very end of a step belongs to it. Delays exclude R_m."""
    (tmp_path / "watches.py").write_text(WATCHES)
    sender = StatefulSender(Library(header.make(str(tmp_path / "watches.py")), STRICT), PACKET, rtt=100)
    sender.sent(10, 4 * PACKET)
    sender.acked(110, 10, PACKET)
    sender.window(200)
    assert sender.state() == {"window": PACKET, "late": 0, "fired": 0}
    sender.gave_up(200, 10, 2 * PACKET)
    assert sender.state()["fired"] == 0
    sender.acked(390, 11, PACKET)
    assert sender.state() == {"window": PACKET, "late": 0, "fired": 1}
    sender.window(401)
    assert sender.state() == {"window": 2 * PACKET, "late": 2, "fired": 0}


WATCHES = """window: bytes = 0
late: number = 0
fired: condition = False


def update(window, acked, delay, timeout, step):
    window = acked
    late = 0
    if delay >= 2 * step:
        late = 2
    fired = timeout


def send(window):
    return window
"""


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("compiler", [name for name in ("gcc", "clang") if shutil.which(name)])
@every_controller
def test_any_events_are_well_defined(name, compiler, tmp_path):
    write(header.make(name), "c", tmp_path)
    checked = ["-std=c99", "-O1", *STRICT, "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    source = ROOT / "tests" / "stateful_sender" / "events.c"
    command = [compiler, *checked, f"-I{tmp_path}", f'-DHEADER="{name}.h"', source, "-o", tmp_path / "events"]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "events", "1", "2000"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "well\n"), done.stderr


@needs_compiler
@pytest.mark.parametrize(
    "name, right, wrong",
    [
        ("aimd", "ccm_floored(was.window, 2)", "(was.window + 1) / 2"),
        ("aimd", "seen[0].acked - was.since >= was.window", "seen[0].acked - was.since > was.window"),
        ("bbr", "s->seen[i] = s->seen[i - 1]", "s->seen[i] = *seen"),
        ("copa", "seen[0].delay >= 0 && ", ""),
        ("cubic", "ccm_floored(7 * was.window, 10)", "ccm_floored(8 * was.window, 10)"),
        ("reno", "m->recover = ccm_kept(seen[0].sent + 3 * packet)", "m->recover = ccm_kept(seen[0].sent)"),
    ],
)
def test_mistakes_are_found(name, right, wrong, monkeypatch):
    """Each mistake is a step too early, a packet too many, a byte too much, or an unknown delay."""
    text = StatefulExport.header
    assert right in header.make(name).header()
    monkeypatch.setattr(StatefulExport, "header", lambda export: text(export).replace(right, wrong))
    library.cache_clear()
    with pytest.raises(Disagreement):
        check(Cell(UPDATES, name, "C"), 0, 200)
    library.cache_clear()
