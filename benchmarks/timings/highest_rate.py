"""Measure the highest rate of a single flow on this machine, for each kind of sender.

    python -m benchmarks.timings.highest_rate [--runs N] [--seconds S]

Ghermezian et al. name the limits of user space as the second cause of their policy's low rate on 10 Gbit/s. The command
needs root. The command connects two namespaces by a veth that neither limits nor delays packets. Packets have 1500
bytes. Each sender tries to send more than it can. The policy is Aurora's network, with layers of 32 and 16 units on ten
observation vectors. The policy decides every 20 ms, which is the R_m of the paper's path. The last bias of the network
makes the policy always choose the largest action, which raises the rate by 25 %.

- policy in C: `ccmatic export --target udp`, with a system call per packet.
- policy in Python: python_sender.py, which computes the same policy with JAX.
- BPF, by packet: a congestion control of `--target bpf` that requests 100,000 packets in R_m, one segment at a time.
- BPF: the same congestion control, while the kernel sends up to 64 KB at once (GSO), which is its default.
- cubic: the kernel's CUBIC, for comparison.

All senders run at a real-time priority. The receiver is that of TCP, or a program that acknowledges each packet. The
command measures a run for some seconds after a warm-up. The command prints medians of the runs: the sent Gbit/s,
including Ethernet's headers, with minimum and maximum; the share of packets lost, or sent again by TCP; thousand
packets per second; microseconds of processor time per packet for the sender and for the receiver, including softirqs;
and the sender's share of a processor. Then the command prints the time of an inference in C code and in JAX.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from timeit import repeat

import jax
import numpy as np

from benchmarks.lib.sender_times import measure
from benchmarks.timings.policies import INFERS, zeros
from ccmatic.deployment import policies
from ccmatic.deployment.emulation import machine
from ccmatic.deployment.exporting import header, targets
from ccmatic.worlds.runtime import build

PORT, STEP, ALWAYS = 5001, 0.02, 1e3

#: The number of seconds in which rates climb by 25 % per STEP.
WARM_UP = 4

#: The position of the sent bytes in a device's line of /proc/net/dev.
BYTES_SENT = 9

AS_MUCH_AS_CAN_BE = "def rate(MSS, R_m):\n    return 100000 * MSS / R_m\n"

LINE = "{0:5.2f} [{6:.2f} … {7:.2f}] Gbit/s  {1:6.1%}  {2:5.0f} k/s  {3:5.2f} us + {4:5.2f} us  {5:4.0%}"

#: The prefix that runs a command at a real-time priority.
FIRST = ["chrt", "--fifo", "1"]


@contextmanager
def veth():
    """Make two namespaces with a veth between them; yield their names, and a folder."""
    machine.remove_what_is_left()
    mark = f"ccm-{os.getpid()}-"
    with tempfile.TemporaryDirectory(prefix=mark) as folder:
        machine.build(machine.TIED, folder)
        names = mark + "a", mark + "b"
        try:
            for name in names:
                ip("netns", "add", name)
            ends = [["name", machine.DEVICE, "netns", name] for name in names]
            ip("link", "add", *ends[0], "type", "veth", "peer", *ends[1])
            for name, address in zip(names, (machine.SENDER, machine.RECEIVER), strict=True):
                ip("-n", name, "address", "add", f"{address}/24", "dev", machine.DEVICE)
                ip("-n", name, "link", "set", machine.DEVICE, "up")
            yield *names, Path(folder)
        finally:
            for name in names:
                subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def ip(*words):
    """Run an `ip` command."""
    subprocess.run(["ip", *words], check=True)


def counted(namespace):
    """Return the counts of a namespace that runs one command, counted from the namespace's beginning.

    Returns:
        The bytes and packets sent, the packets lost (sent again, or without room in a socket), the command's seconds of
        processor time, and the time.
    """
    pids = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=True).stdout.split()
    tasks = [task for pid in pids for task in Path(f"/proc/{pid}/task").iterdir()]
    took = sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
    [device] = [line for line in (tasks[0] / "net/dev").read_text().splitlines() if machine.DEVICE in line]
    lines = [line.split() for line in (tasks[0] / "net/snmp").read_text().splitlines()]
    tcp, udp = (
        dict(zip(names, values, strict=True))
        for names, values in zip(lines[::2], lines[1::2], strict=True)
        if names[0] in ("Tcp:", "Udp:")
    )
    packets = int(tcp["OutSegs"]) + int(udp["OutDatagrams"])
    lost = int(tcp["RetransSegs"]) + int(udp["RcvbufErrors"])
    return np.array([int(device.split()[BYTES_SENT]), packets, lost, took, time.monotonic()])


def run(sender, receiver, seconds):
    """Run a sender and a receiver.

    Returns:
        The Gbit/s, the lost share, thousand packets per second, microseconds per packet of the sender and of the
        receiver, and the sender's share of a processor.
    """
    with veth() as (*names, folder), ExitStack() as stack:
        stack.enter_context(machine.Process("the receiver", FIRST + receiver, folder, names[1])).wait_until_ready()
        sending = stack.enter_context(machine.Process("the sender", FIRST + sender, folder, names[0]))
        time.sleep(WARM_UP)
        before = [counted(name) for name in names]
        time.sleep(seconds)
        sending.check()
        there, here = (counted(name) - first for name, first in zip(names, before, strict=True))
    bytes_, packets, _, took, passed = there
    rate, answering = packets / passed, here[3] / here[4]
    lost = (there[2] + here[2]) / packets
    return 8e-9 * bytes_ / passed, lost, rate / 1e3, 1e6 * took / packets, 1e6 * answering / rate, took / passed


def senders(policy, seconds, folder):
    """Yield the name of each sender with its commands to send and receive. Use them before the next iteration.

    The argument `policy` is the path of the policy's file.
    """
    targets.write(policies.exported(policies.load(policy)), "udp", folder / "udp")
    program, receiver = build.build_udp(folder / "udp")
    to = [machine.RECEIVER, PORT]
    yield "policy in C", [program, "--step", int(STEP * 1e9), "--duration", seconds, *to], [receiver, PORT]
    python = [sys.executable, Path(__file__).with_name("python_sender.py"), policy, *to]
    yield "policy in Python", [*python, "--seconds", seconds, "--interval", STEP], [receiver, PORT]

    tcp = ["iperf3", "--client", machine.RECEIVER, "--port", PORT, "--time", seconds, "--congestion"]
    server = ["iperf3", "--server", "--port", PORT, "--forceflush"]
    (folder / "fastest.py").write_text(AS_MUCH_AS_CAN_BE)
    targets.write(header.make(str(folder / "fastest.py")), "bpf", folder / "bpf")
    name = targets.kernel_name("fastest", str(os.getpid()))
    program, loader = build.build_bpf(folder / "bpf", name)
    with machine.Process("the loader", [loader, program], folder) as loaded:
        loaded.wait_until_ready()
        one = f"ip link set {machine.DEVICE} gso_max_segs 1 && exec {' '.join(map(str, tcp))} {name}"
        yield "BPF, by packet", ["sh", "-c", one], server
        yield "BPF", [*tcp, name], server
    yield "cubic", [*tcp, "cubic"], server


def inference(policy):
    """Return the nanoseconds of one inference, in C code and in JAX."""
    in_c, _ = measure(policies.exported(policy), *INFERS, times=20_000)
    observation, network = (
        np.ones(len(policy.layers[0][0]), np.float32),
        jax.jit(partial(policies.outputs, policy.layers)),
    )
    return in_c, min(repeat(lambda: np.asarray(network(observation)), number=2000, repeat=5)) / 2000 * 1e9


def main():
    """Print a line for each sender."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=5)
    given = parser.parse_args()
    machine.require()
    with machine.stopping_cleanly(), tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        machine.build(machine.TIED, folder)
        policy = zeros(folder, "aurora", (32, 16))
        file = policies.load(policy).file
        file.layers[-1].bias[0] = ALWAYS
        policies.save(file, policy)
        for name, sender, receiver in senders(policy, WARM_UP + given.seconds + 10, folder):
            results = [run(sender, receiver, given.seconds) for _ in range(given.runs)]
            rates = [measures[0] for measures in results]
            text = LINE.format(*map(median, zip(*results, strict=True)), min(rates), max(rates))
            print(f"{name:>18}  {text}", flush=True)
        print("an inference: {:.0f} ns in C, {:.0f} ns in JAX".format(*inference(policies.load(policy))))


if __name__ == "__main__":
    main()
