"""Exported controllers in this kernel: which of them a flow runs, and that they are gone when it is over."""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir

import numpy as np
import pytest

from ccmatic.base.errors import InputError
from ccmatic.deployment.emulation import flows, kinds, link, machine, run
from ccmatic.deployment.exporting import header, targets
from ccmatic.deployment.exporting.targets import kernel_name
from ccmatic.worlds.runtime import build
from support import ROOT
from support.machine import needs_bpf, on_time
from support.sampling import each_nth

#: Others may run controllers on this machine, too.
MINE = f"test_{os.getpid()}"


def in_the_kernel():
    return set(flows.AVAILABLE.read_text().split())


@contextmanager
def registered(folder):
    """Write a folder, and register it meanwhile under a name of this process."""
    program, loader = build.build_bpf(folder, MINE)
    machine.build(machine.TIED, folder)
    with machine.Process("the loader", [loader, program, folder / "log.csv"], folder) as process:
        process.wait_until_ready()
        assert MINE in in_the_kernel()
        yield
    assert MINE not in in_the_kernel()


def transfer(congestion_control, size):
    """Send bytes over loopback: how many arrived, and the sender's congestion control."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as sender:
        sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
        sender.settimeout(20)
        sender.connect(server.getsockname())
        threading.Thread(target=lambda: (sender.sendall(bytes(size)), sender.shutdown(socket.SHUT_WR))).start()
        receiver, _ = server.accept()
        with receiver:
            receiver.settimeout(20)
            received = 0
            while chunk := receiver.recv(65536):
                received += len(chunk)
        used = sender.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16)
    return received, used.rstrip(b"\0").decode()


@needs_bpf
@pytest.mark.parametrize("controller", each_nth(2, ["cc_qdel", "cc_probe_slow"]))
def test_kernel_runs_the_controller(tmp_path, controller):
    targets.write(header.make(controller), "bpf", tmp_path)
    with registered(tmp_path):
        assert transfer(MINE, 10**7) == (10**7, MINE)
    head, *steps = (tmp_path / "log.csv").read_text().splitlines()
    assert "C_L" in head.split(",") and {line.count(",") for line in steps} <= {head.count(",")}


@needs_bpf
def test_kernel_refuses_an_index_out_of_bounds(tmp_path):
    targets.write(header.make("cc_qdel"), "bpf", tmp_path)
    text = (tmp_path / "cc_qdel.h").read_text()
    (tmp_path / "cc_qdel.h").write_text(text.replace("return i < CCM_STEPS ? i : 0;", "return i;"))
    with pytest.raises(InputError, match="the kernel refused it: .*memory access"), registered(tmp_path):
        pass
    assert MINE not in in_the_kernel()


def test_the_kernel_needs_btf(tmp_path, monkeypatch):
    monkeypatch.setattr(kinds, "_BTF", tmp_path / "vmlinux")
    with pytest.raises(InputError, match="no BTF"), kinds.Bpf("cc_qdel").prepare(None):
        pass


def test_other_code_has_another_name():
    names = {kernel_name(name, code) for name in ("cc_probe_slow", "cc_probe_slower") for code in ("1", "2")}
    assert len(names) > 1 and {len(name) for name in names} == {15}


def emulate(asked, names, seconds):
    """The log of flows over a link."""
    return on_time(
        lambda: run.run_flows(asked, [kinds.request(name) for name in names], seconds),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    ).log


@pytest.mark.slow
@pytest.mark.real_time
@needs_bpf
def test_controllers_of_names_alike_run_each_their_own_code(iperf3, tmp_path):
    """One sends 3 packets a step, the other 30; their first 15 letters are the same."""
    paths = [tmp_path / f"steady_controller_{packets}.py" for packets in (3, 30)]
    for path, packets in zip(paths, (3, 30), strict=True):
        path.write_text(f"def rate(C_L, MSS, R_m):\n    return {packets} * MSS / R_m\n")
    log = emulate(link.of_texts("96mbit", "20ms", "4bdp"), [f"bpf:{path}" for path in paths], 2)
    sent = [((log["flow"] == flow) & (log["size"] == 1500)).sum() for flow in (0, 1)]
    assert sent[0] > 50 and 5 < sent[1] / sent[0] < 20
    assert not [name for name in in_the_kernel() if name.startswith("steady_")]


@needs_bpf
def test_a_flow_that_runs_something_else_is_an_error(iperf3, monkeypatch):
    monkeypatch.setattr(flows.Kernel, "prepare", _asks_for_cubic(flows.Kernel.prepare))
    with pytest.raises(InputError, match=r"of flow 0 \(bpf:cc_qdel\) ran the kernel's reno; expected cc_qdel_"):
        run.run_flows(link.of_texts("12mbit", "20ms", "4bdp"), [kinds.request("bpf:cc_qdel")], 1)


def _asks_for_cubic(prepare):
    """As if a name were taken by another's code."""

    @contextmanager
    def other(self, context):
        with prepare(self, context) as commands:
            asked = commands.sender.index(self.name)
            commands.sender[asked] = "reno"
            yield commands

    return other


@needs_bpf
@pytest.mark.parametrize("name", ["cubic", "illinois"])
def test_kernel_accepts_laws(name, tmp_path):
    """A root's loop of branches within that of steps was too large for the verifier."""
    targets.write(header.make(name), "bpf", tmp_path / name)
    with registered(tmp_path / name):
        pass


@needs_bpf
@pytest.mark.parametrize("name", ["contract", "contract_competing"])
def test_kernel_accepts_observations_of_many_steps(name, tmp_path):
    """Clang used to copy all of them to the stack, which has 512 bytes."""
    targets.write(header.make(name), "bpf", tmp_path / name)
    with registered(tmp_path / name):
        pass


@needs_bpf
@pytest.mark.slow
def test_kernel_accepts_all_that_is_shipped(tmp_path):
    shipped = sorted(path.stem for path in ROOT.glob("synthesized/[!_]*.py"))
    shipped += ["aimd", "aimd_each_step", "bbr", "cubic", "constant_window", "constant_window_paced", "copa", "reno"]
    shipped += ["bbr_v1", "cubic_20ms", "illinois", "lp", "rocc", "vegas"]
    assert len(shipped) > 16
    for name in shipped:
        targets.write(header.make(name), "bpf", tmp_path / name)
        with registered(tmp_path / name):
            pass


@needs_bpf
def test_a_killed_run_leaves_nothing_in_the_kernel(iperf3, tmp_path):
    options = ["--rate", "24mbit", "--rtt", "10ms", "--buffer", "2bdp", "--seconds", "60"]
    program = [sys.executable, "-m", "ccmatic", "emulate", *options, "--flow", "bpf:cc_probe_drain"]
    with subprocess.Popen(program, cwd=tmp_path, stderr=subprocess.DEVNULL) as process:
        assert _within(30, lambda: any(name in in_the_kernel() for name in names_of(process.pid)))
        [name] = names_of(process.pid)
        process.kill()
    assert _within(10, lambda: name not in in_the_kernel())
    machine.remove_what_is_left()


def names_of(pid):
    """Return the names that a run in this folder registers."""
    found = Path(gettempdir()).glob(f"ccm-{pid}-*/the-loader-of-*.out")
    return [file.stem.removeprefix("the-loader-of-") for file in found]


def test_no_connection_outlives_a_run(iperf3, monkeypatch):
    """The kernel would go on to send what ended processes wrote, for minutes, and keep their namespaces."""
    left, delete = [], subprocess.run

    def look(command, *rest, **named):
        if command[:3] == ["ip", "netns", "delete"]:
            left.append(machine._sockets(command[3]))
        return delete(command, *rest, **named)

    monkeypatch.setattr(machine.subprocess, "run", look)
    run.run_flows(link.of_texts("24mbit", "40ms", "16bdp"), [kinds.request("cubic")], 1)
    assert left == ["", ""]


def _within(seconds, condition):
    for _ in range(int(seconds / 0.02)):
        if condition():
            return True
        time.sleep(0.02)
    return False
