"""A run in which a sender was held up is not valid, whatever the link's own log says."""

import os
import signal
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
import pytest

from ccmatic.base import definitions
from ccmatic.contracts import load_definition
from ccmatic.deployment.emulation import beliefs, kinds, link, machine, run
from ccmatic.deployment.emulation.flows import Log
from ccmatic.deployment.emulation.run import Hold
from support.emulations import in_time
from support.machine import needs_compiler
from support.sampling import each_nth

MS = 10**6

#: What `ss --info` prints of iperf3's two connections; the second carries the data.
TOLD = """\
ESTAB 0 0 10.77.0.1:37504 10.77.0.2:5001 bbr wscale:7,7 bytes_sent:184 lastsnd:5928 lastrcv:5808 app_limited busy:80ms
ESTAB 0 9 10.77.0.1:37506 10.77.0.2:5001 cubic wscale:7,7 bytes_sent:16543437 lastsnd:4 lastrcv:5856 lastack:20 {} rto:1
"""


@pytest.mark.parametrize("counted, idle", [
    ("busy:5840ms", 16), ("busy:4872ms", 984), ("busy:5840ms rwnd_limited:500ms(8.6%) sndbuf_limited:9ms(0.1%)", 516),
])  # fmt: skip
def test_a_connection_tells_for_how_long_it_was_idle(counted, idle):
    assert machine.busiest(TOLD.format(counted)) == machine.Connection("cubic", 5856 * MS, idle * MS)
    assert machine.busiest(TOLD.format(counted).splitlines()[0]) is None


def steps(times, length):
    model = load_definition("models", "MODEL", definitions.chosen("models", "EMULATED"))
    columns = {"time": np.array(times, np.int64) * MS, "step_ns": np.full(len(times), length * MS)}
    return beliefs.Steps(columns, Log(Path("no file"), model, 10))


@pytest.mark.parametrize("times, missing", [
    ([80, 160, 240, 320], 0), ([80, 160, 1681, 1761], 1521 - 80), ([80, 160, 200, 280, 330], 0), ([], 0),
    ([80, 160], 400 - 160 - 80),
])  # fmt: skip
def test_steps_that_a_log_lacks(times, missing):
    assert steps(times, 80).missing(400 * MS) == missing * MS


def test_a_flow_that_was_held_up_makes_a_run_not_valid():
    asked = link.of_texts("12mbit", "10ms", "3000")
    fine = in_time(asked, ("udp:x",), [(0, 0), (1, 0)])
    held = [Hold("the sender was held up", ns * MS, 6000 * MS) for ns in (49, 119, 1500)]
    assert not replace(fine, holds=tuple(held[:2])).faults
    told = "the sender was held up for 1.50 of 6.00 s; 2% are tolerated"
    assert replace(fine, holds=tuple(held)).faults == [told]
    assert not Hold("a short run", 49 * MS, 500 * MS).too_long and Hold("a short run", 51 * MS, 500 * MS).too_long


@needs_compiler
@pytest.mark.real_time
def test_a_process_that_is_stopped_is_held_up(tmp_path):
    machine.build(machine.TIED, tmp_path)
    with machine.Process("the sender", ["sleep", "60"], tmp_path) as process:
        assert process.held == (0, 0)
        for how, seconds in ((None, 0.2), (signal.SIGSTOP, 0.4), (signal.SIGCONT, 0.2)):
            if how:
                os.kill(process._popen.pid, how)
            begun = time.monotonic_ns()
            while time.monotonic_ns() - begun < seconds * 1e9:
                process.look()
                time.sleep(0.01)
            if how == signal.SIGSTOP:
                stopped = time.monotonic_ns() - begun
    held, watched = process.held
    assert 0.8 * stopped < held < watched - 0.25e9


def ours(*words):
    """The processes that this one started as a program, the first word, with the others among its arguments."""
    for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split():
        with suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
            if Path(command[0]).name == words[0] and {*words[1:]} <= {*command}:
                yield int(pid)


def stop_for(seconds, words, after):
    """Stop such a process for a while, some time after it began."""

    def stop():
        while not (found := [*ours(*words)]):
            time.sleep(0.02)
        time.sleep(after)
        os.kill(found[0], signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(found[0], signal.SIGCONT)

    Thread(target=stop, daemon=True).start()


@pytest.mark.parametrize("flow, program, said", each_nth(3, [
    ("udp:cc_qdel", ["udp_sender"], "the sender of flow 0 (udp:cc_qdel) was held up for "),
    ("udp:aimd", ["udp_receiver"], "the receiver of flow 0 (udp:aimd) was held up for "),
    ("cubic", ["iperf3", "--client"],
     "the sender of flow 0 (cubic) had nothing to send, or no room at the receiver, for "),
]))  # fmt: skip
def test_a_run_whose_sender_was_stopped_is_not_valid(flow, program, said, iperf3):
    stop_for(1, program, after=1)
    found = run.run_flows(link.of_texts("24mbit", "20ms", "1bdp"), [kinds.request(flow)], 3)
    [fault] = [fault for fault in found.faults if said in fault]
    assert 0.5 < float(fault.removeprefix(said).split()[0]) < 1.5
