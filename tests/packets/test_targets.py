"""Exports that run: the UDP sender against receivers that lose packets or answers."""

import json
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from ccmatic.base.errors import InputError
from ccmatic.deployment.emulation import kinds, link, machine, run
from ccmatic.deployment.exporting import header, targets
from ccmatic.deployment.exporting.targets import sources
from ccmatic.worlds.runtime import build
from support.machine import on_time, watched

pytestmark = pytest.mark.real_time

ACK = struct.Struct(">QQQQ")
STEP = 10**7
#: Sends 10 packets a step of 10 ms: 12 Mbit/s.
STEADY = '''"""Sends at a fixed rate."""


def rate(C_L, MSS, R_m):
    if C_L > 1000000 * MSS / R_m:
        return 2 * MSS / R_m
    return 10 * MSS / R_m
'''
needs_compiler = pytest.mark.skipif(
    not (shutil.which("cc") and shutil.which("make")), reason="no cc or no make on this machine"
)


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    """The sender and the receiver of a controller of a fixed rate."""
    folder = tmp_path_factory.mktemp("steady")
    (folder / "steady.py").write_text(STEADY)
    targets.write(header.make(str(folder / "steady.py")), "udp", folder)
    return build.build_udp(folder)


class Answers(threading.Thread):
    """A receiver that loses packets and answers as configured.

    Attributes:
        lost: Whether a packet is lost, as a function of its number, as is `unanswered`.
        late: The seconds after the first packet during which the receiver sends no answers.
    """

    def __init__(self, lost=lambda seq: False, unanswered=lambda seq: False, late=0):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(5)
        self.port = str(self.socket.getsockname()[1])
        self.lost, self.unanswered = lost, unanswered
        self.seen, self.sizes = [], set()
        self.late, self.held, self.begun = late, [], None

    def run(self):
        with suppress(OSError):
            while True:
                packet, sender = self.socket.recvfrom(65536)
                seq = int.from_bytes(packet[:8], "big")
                if self.lost(seq):
                    continue
                self.seen.append(seq)
                self.sizes.add(len(packet))
                if not self.unanswered(seq):
                    highest = max(self.seen)
                    before = sum(1 << (highest - 1 - i) for i in set(self.seen[-200:]) if 0 < highest - i <= 64)
                    self.answer(ACK.pack(seq, highest, before, 0), sender)

    def answer(self, ack, sender):
        self.begun = self.begun or time.monotonic()
        self.held.append(ack)
        while self.held and time.monotonic() >= self.begun + self.late:
            self.socket.sendto(self.held.pop(0), sender)


def send(sender, *options, seconds=0.5, **answers):
    """Return the sender's report of a transfer to an Answers, and the receiver."""

    def attempt():
        receiver = Answers(**answers)
        receiver.start()
        command = [sender, "--duration", seconds, *options, "127.0.0.1", receiver.port]
        return *watching(command), receiver

    done, _, receiver = on_time(attempt, lateness)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout), receiver


def watching(command):
    """The process of a command, ended, and how late this machine was meanwhile."""
    with watched() as late:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=30)
    return done, late


def lateness(found):
    return np.percentile(found[1], (50, 99))


@pytest.mark.parametrize("target", ["udp", "bpf"])
def test_sources_are_filled_in(target):
    texts = sources(target, header.make("cc_probe_slow"), "")
    assert "Makefile" in texts
    assert "cc_probe_slow.bpf.c" in texts or "udp_sender.c" in texts
    assert not [name for name, text in texts.items() if "@NAME@" in name + text or "@TCP_NAME@" in text]


@needs_compiler
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_sender_and_receiver_compile_without_warnings(tmp_path, compiler, monkeypatch):
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler} on this machine")
    monkeypatch.setenv("CC", compiler)
    monkeypatch.setenv("CFLAGS", "-O2 -Wall -Wextra -Wpedantic -Werror")
    targets.write(header.make("cc_probe_slow"), "udp", tmp_path)
    assert all(program.exists() for program in build.build_udp(tmp_path))


@needs_compiler
def test_sends_at_the_rate_and_never_above(steady):
    found, receiver = send(steady[0], "--step", STEP, seconds=1)
    # Nothing sent late is made up for, so on a busy machine it may be less.
    assert 500 * 1500 < found["sent"] <= 1000 * 1500
    assert receiver.sizes == {1500 - 28}
    assert found["name"] == "steady"
    unknown = found["sent"] - found["delivered"] - found["lost"]
    assert 0 <= unknown < 250 * 1500 and found["delivered"] <= len(receiver.seen) * 1500


@needs_compiler
def test_lost_packets_are_counted_once(steady):
    found, receiver = send(steady[0], "--step", STEP, lost=lambda seq: seq % 10 == 0)
    packets = found["sent"] // 1500
    assert packets > 250
    assert packets // 10 - 25 <= found["lost"] // 1500 <= packets - len(receiver.seen)
    assert found["delivered"] // 1500 <= len(receiver.seen)


@needs_compiler
def test_lost_answers_are_made_good_by_later_ones(steady):
    found, receiver = send(steady[0], "--step", STEP, unanswered=lambda seq: seq % 3)
    assert found["sent"] > 250 * 1500
    assert found["lost"] // 1500 <= found["sent"] // 1500 - len(receiver.seen)
    assert found["delivered"] > 200 * 1500


@needs_compiler
def test_unanswered_packets_time_out(steady):
    found, _ = send(steady[0], "--step", STEP, seconds=2, unanswered=lambda seq: True)
    assert found["delivered"] == 0
    assert 0.2 * found["sent"] < found["lost"] <= found["sent"] * 0.55


@needs_compiler
def test_packets_given_up_and_then_acknowledged_are_not_lost(steady, tmp_path):
    """All answers of the first second and a half are held back, so packets time out."""
    log = tmp_path / "log.csv"
    found, receiver = send(steady[0], "--step", STEP, "--log", log, seconds=2.5, late=1.5)
    assert found["delivered"] > 10**5
    head, *rows = [line.split(",") for line in log.read_text().splitlines()]
    lost, begun = ([int(row[head.index(name)]) for row in rows] for name in ("lost", "begun_again"))
    # They were given up only; no belief was formed of that. What a busy machine did not take to the receiver is lost.
    assert max(lost) > 100 * 1500 and set(begun) == {0}
    assert found["lost"] <= found["sent"] - 1500 * len(set(receiver.seen))


@needs_compiler
def test_begins_with_a_queue_and_beliefs(steady, tmp_path):
    log = tmp_path / "log.csv"
    start = ["--queue", 30 * 1000, "--start", f"C_L={10**10},C_U={10**11}", "--packet", 1000, "--log", log]
    send(steady[0], "--step", STEP, *start)
    head, first, *rest = [line.split(",") for line in log.read_text().splitlines()]
    row = dict(zip(head, first, strict=True))
    assert head[:8] == ["time_ns", "step_ns", "packet", "rate", "sent", "acked", "lost", "begun_again"]
    assert (int(row["C_L"]), int(row["C_U"]), int(row["sent"])) == (10**10, 10**11, 30 * 1000)
    # A belief this large makes it send 2 packets a step, until it times out.
    assert int(row["rate"]) == 2 * 1000 * 10**9 // STEP
    assert 30 * 1000 < int(rest[5][head.index("sent")]) <= (30 + 2 * 7) * 1000
    assert 40 <= len(rest) <= 50


@needs_compiler
def test_measures_the_round_trip_of_the_real_receiver(steady, tmp_path):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        port = str(taken.getsockname()[1])

    def attempt():
        with subprocess.Popen([steady[1], port], stdout=subprocess.PIPE, text=True) as receiver:
            try:
                assert json.loads(receiver.stdout.readline()) == {"port": int(port)}
                done, late = watching([steady[0], "--duration", "0.3", "127.0.0.1", port])
            finally:
                receiver.send_signal(signal.SIGTERM)
            return done, late, json.loads(receiver.communicate(timeout=10)[0])

    done, _, received = on_time(attempt, lateness)
    found = json.loads(done.stdout)
    assert found["delivered"] > 10 * 1500 and 0.3 <= found["seconds"] < 0.5
    assert received["bytes"] == received["packets"] * 1500
    assert found["delivered"] <= received["bytes"] <= found["sent"] + 5 * 1500


@needs_compiler
@pytest.mark.parametrize(
    "options, says",
    [
        (["--rate", "1"], "usage"),
        (["--packet", "20"], "36 bytes"),
        (["--duration", "soon"], "expected seconds"),
        (["--step", "-1"], "expected a whole number"),
        (["--step", "0"], "a step takes at least 1 ns"),
        (["--step", "1000", "--start", "C_X=1"], "no such belief or state: C_X"),
        (["--step", "1000", "--start", "C_L"], "expected NAME=VALUE"),
        (["--step", "1000", "--log", "/nowhere/log"], "No such file"),
        ([], "no answer"),
    ],
)
def test_sender_says_what_is_wrong(steady, options, says):
    done = subprocess.run([steady[0], *options, "127.0.0.1", "9"], capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert says in done.stderr and not done.stdout


@pytest.mark.parametrize(
    "target, missing, says",
    [
        ("udp", {"make"}, "there is no make; on Debian, apt-get install make"),
        ("udp", {"cc"}, "there is no cc; on Debian, apt-get install gcc"),
        ("bpf", {"clang"}, "there is no clang; on Debian, apt-get install clang"),
        ("bpf", {"make", "clang"}, "there is no make, no clang; on Debian, apt-get install make clang"),
        ("bpf", {"libbpf"}, "there is no libbpf's headers; on Debian, apt-get install libbpf-dev"),
    ],
)
def test_missing_tools_are_named(tmp_path, monkeypatch, target, missing, says):
    """All at once; missing headers showed the compiler's error."""
    targets.write(header.make("cc_qdel"), target, tmp_path)
    for name in {"make", "cc", "clang"} - missing:
        (tmp_path / "bin").mkdir(exist_ok=True)
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\nexit {int('libbpf' in missing)}\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for compiler in ("CC", "CLANG"):
        monkeypatch.delenv(compiler, raising=False)
    with pytest.raises(InputError) as error:
        (build.build_udp if target == "udp" else build.build_bpf)(tmp_path)
    assert error.value.message == says


@pytest.mark.parametrize(
    "flow, tools",
    [
        ("cubic", "no iperf3;"),
        ("udp:cc_qdel", "no make;"),
        ("bpf:cc_qdel", "no make, no clang, no libbpf's headers, no iperf3;"),
    ],
)
def test_a_run_names_all_tools_that_its_flows_miss(flow, tools, tmp_path, monkeypatch):
    for name in ("ip", "cc"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(machine.os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=f"there is {tools}"):
        machine.require([kinds.request(flow)])


def emulate(asked, names, seconds):
    """The log of flows over a link."""
    return on_time(
        lambda: run.run_flows(asked, [kinds.request(name) for name in names], seconds),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    ).log


def test_flows_of_controllers_are_known():
    assert kinds.KINDS == {
        "udp": kinds.Udp,
        "bpf": kinds.Bpf,
        "guard": kinds.guard,
        "policy": kinds.Trained,
    }
    with pytest.raises(InputError, match="there is no 'cc_qdell'"):
        kinds.flow("udp:cc_qdell")


@needs_compiler
def test_a_controller_over_udp_on_an_emulated_link(emulator):
    log = emulate(link.of_texts("12mbit", "20ms", "4bdp"), ["udp:cc_qdel"], 2)
    assert set(log["flow"]) == {0} and set(log["size"]) == {1500}
    # Half of the link at least, which serves 1000 packets a second, once it is found.
    assert (log["released"] > 10**9).sum() > 500


@needs_compiler
def test_a_controller_over_udp_on_a_schedule(emulator, tmp_path, steady):
    (tmp_path / "schedule.csv").write_text(
        "# ccmatic schedule 1\n# rate 3000000\n# step 10000000\n# packet 1000\n# buffer infinite\n# queue 30000\n"
        "time_ns,admitted,served\n0,0,0\n1000000000,3000000,3000000\n"
    )
    (tmp_path / "steady.py").write_text(STEADY)
    log = emulate(link.of_schedule(tmp_path / "schedule.csv"), [f"udp:{tmp_path / 'steady.py'}"], 0.5)
    assert set(log["size"]) == {1000}
    # The queue at once, then 10 packets in each step of 10 ms.
    assert log["arrival"][29] < 5 * 10**6 < log["arrival"][35]
    assert 250 < len(log) <= 30 + 10 * 50
