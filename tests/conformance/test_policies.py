"""What says which rate is wanted in an envelope over UDP: a function of a C file, or a process on a pipe."""

import csv
import subprocess
from itertools import pairwise

import pytest

from ccmatic.deployment.exporting import header, targets
from support.machine import needs_compiler

pytestmark = [needs_compiler, pytest.mark.real_time]

#: Packets a step of 10 ms that it allows, each of 1500 bytes.
LEAST, MOST = 4, 12
ENVELOPE = f"def rate(MSS, R_m):\n    return between({LEAST} * MSS / R_m, {MOST} * MSS / R_m)\n"
PACKET, STEP = 1500, 10**7
PER_SECOND = PACKET * 10**9 // STEP

#: Wants 8 packets a step, where 5 were sent or fewer, else 3.
BY_RECORD = f"""
static uint64_t wanted(const struct ccm_record *record)
{{
    return record->rate < 6 * {PER_SECOND} ? 8 * {PER_SECOND} : 3 * {PER_SECOND};
}}
"""


def built(folder, *options):
    """The sender and the receiver, in a folder."""
    (folder / "band.py").write_text(ENVELOPE)
    targets.write(header.make(str(folder / "band.py"), guarding=True), "udp", folder)
    command = ["make", "-s", "-B", "udp_sender", "udp_receiver", "CFLAGS=-O1 -Wall -Wextra -Werror", *options]
    made = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture(scope="module")
def sender(tmp_path_factory):
    """The folder of a sender without a policy of its own."""
    return built(tmp_path_factory.mktemp("band"))


def send(folder, *options, port):
    """What became of a run of half a second: exit code, standard error, and packets a step by the log's rates."""
    log = folder / "log.csv"
    log.unlink(missing_ok=True)
    with subprocess.Popen([folder / "udp_receiver", port], stdout=subprocess.PIPE) as receiver:
        receiver.stdout.readline()
        to = ["--duration", "0.5", "--step", str(STEP), "--log", log, *options, "127.0.0.1", port]
        done = subprocess.run([folder / "udp_sender", *to], capture_output=True, text=True)
        receiver.terminate()
    rows = list(csv.DictReader(log.read_text().splitlines())) if log.exists() else []
    return done.returncode, done.stderr, [round(int(row["rate"]) / PER_SECOND) for row in rows]


@pytest.mark.parametrize("wanted, packets", [(8, 8), (0, LEAST), (10**6, MOST)])
def test_a_process_on_a_pipe_says_what_is_wanted(sender, wanted, packets):
    policy = f"while read line; do echo {wanted * PER_SECOND}; done"
    code, error, rates = send(sender, "--policy", policy, port="6101")
    assert code == 0, error
    assert len(rates) > 20 and rates[0] == MOST and set(rates[5:]) == {packets}


def test_the_process_reads_what_is_logged(sender, tmp_path):
    seen = tmp_path / "seen"
    policy = f"while read line; do echo $line >> {seen}; echo {8 * PER_SECOND}; done"
    assert send(sender, "--policy", policy, port="6102")[0] == 0
    read, logged = (list(csv.DictReader(file.read_text().splitlines())) for file in (seen, sender / "log.csv"))
    assert [row["sent"] for row in read[:20]] == [row["sent"] for row in logged[:20]]


def test_a_function_says_what_is_wanted_of_the_step_that_begins(tmp_path):
    (tmp_path / "mine.h").write_text(BY_RECORD)
    code, error, rates = send(built(tmp_path, "POLICY=mine.h"), port="6103")
    assert code == 0, error
    assert len(rates) > 20 and {(8, LEAST), (LEAST, 8)} == set(pairwise(rates[1:]))


@pytest.mark.parametrize("options, message", [
    ([], "an envelope needs --policy COMMAND, or make POLICY=FILE"),
    (["--policy", "exit 0"], "the policy"),
    (["--policy", "while read line; do echo much; done"], "expected a whole number, and not too large, found: much"),
])  # fmt: skip
def test_what_is_no_policy_is_said(sender, options, message):
    code, error, _ = send(sender, *options, port="6104")
    assert code == 2 and message in error and len(error.splitlines()) == 1
