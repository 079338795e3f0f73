"""Measure the windows of the kernel's flows over time. Each flow runs alone on the same emulated link.

    python -m benchmarks.peers.windows [--rate 12mbit] [--rtt 40ms] [--buffer 1bdp] [--seconds 20] [--runs 5] [--json]
                                       FLOW…

FLOW is one of the kernel's congestion controls, or bpf:CONTROLLER. The command samples the window every 20 ms. For the
last half of a run, it measures the window's 5th, 50th and 95th percentile and its mean, in segments, and the used share
of the link. For each flow, the command prints the median and, in brackets, the smallest and the largest value of the
valid runs. It also prints the difference of the median of the mean window from the first flow's median, in percent. The
command attempts an invalid run at most three times. With --json, it prints a line per valid run instead. The command
needs root, iperf3, and everything that BPF flows need. No other emulation may run at the same time, because the command
samples the busiest flow of all emulations on the machine.
"""

import argparse
import json
import re
import threading
from statistics import median

import numpy as np

from benchmarks.lib import real_runs
from ccmatic.base import InputError
from ccmatic.deployment.emulation import kinds, link, machine, measures, run

EVERY = 0.02

#: The largest number of bytes with which iperf3 negotiates a test.
TALK = 10_000


def windows(path, name, seconds):
    """Emulate a flow, and return the Emulation and the flow's windows."""
    done, looks = threading.Event(), []
    watcher = threading.Thread(target=_watch, args=(done, looks))
    watcher.start()
    try:
        emulation = run.run_flows(path, [kinds.request(name)], seconds)
    finally:
        done.set()
        watcher.join()
    return emulation, looks


def _watch(done, looks):
    while not done.wait(EVERY):
        if (window := _window()) is not None:
            looks.append(window)


def _window():
    """Return the window of the running flow; None if iperf3 has sent only its own messages so far."""
    busiest = TALK, None
    for namespace in machine.NAMESPACES.glob("ccm-*-a") if machine.NAMESPACES.exists() else ():
        for line in machine._sockets(namespace.name, "--info", "dport", "=", f":{run.PORT}").splitlines():
            numbers = dict(re.findall(r"\b(cwnd|bytes_sent):(\d+)", line))
            if len(numbers) == 2:
                busiest = max(busiest, (int(numbers["bytes_sent"]), int(numbers["cwnd"])))
    return busiest[1]


def row(path, name, seconds):
    """Measure a flow."""
    emulation, looks = windows(path, name, seconds)
    if not looks:
        raise InputError(f"no window of {name} was seen; expected a TCP flow: one of the kernel's, or bpf:CONTROLLER")
    late = looks[len(looks) // 2 :]
    low, median, high = np.percentile(late, (5, 50, 95))
    summary = measures.summed_up(emulation, seconds / 2)
    result = {"flow": name, "mean": float(np.mean(late)), "p5": low, "p50": median, "p95": high}
    return result | {"utilisation": summary["utilisation"], "lost": summary["lost"], "faults": emulation.faults}


def main():
    """Measure each flow, and print a line for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, default in {"rate": "12mbit", "rtt": "40ms", "buffer": "1bdp"}.items():
        parser.add_argument(f"--{option}", default=default)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--runs", type=int, default=real_runs.RUNS)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("flows", nargs="+", metavar="FLOW")
    given = parser.parse_args()
    path = link.of_texts(given.rate, given.rtt, given.buffer)
    first = None
    for name in given.flows:
        runs, note = real_runs.valid(
            lambda: row(path, name, given.seconds),  # noqa: B023
            lambda result: result["faults"],
            given.runs,
        )
        first = first or runs
        if given.json:
            print(*map(json.dumps, runs), sep="\n", flush=True)
        else:
            print(f"{name:<14}  {as_text(runs, first) if runs else ''}{note}", flush=True)


def as_text(runs, first):
    """Return the measures of a flow's valid runs as text. `first` has the valid runs of the first flow."""
    parts = [f"{name} {real_runs.spread([run[name] for run in runs], '.1f')}" for name in ("mean", "p5", "p50", "p95")]
    parts.append(f"utilisation {real_runs.spread([100 * run['utilisation'] for run in runs], '.1f', ' %')}")
    off = median(run["mean"] for run in runs) / median(run["mean"] for run in first) - 1
    return "  ".join([*parts, f"lost {real_runs.spread([run['lost'] for run in runs], '.0f')}", f"off {off:+.1%}"])


if __name__ == "__main__":
    main()
