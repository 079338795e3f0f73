"""Measure the windows of the kernel's flows over time. Each flow runs alone on the same emulated link.

    python -m benchmarks.peers.windows [--rate 12mbit] [--rtt 40ms] [--buffer 1bdp] [--seconds 20] [--json] FLOW…

FLOW is one of the kernel's congestion controls, or bpf:CONTROLLER. The command samples the window every 20 ms. For the
last half of a run, it prints the window's 5th, 50th and 95th percentile and its mean, in segments. The command also
prints the used share of the link, and the difference of the mean window from the first flow's mean window in percent.
The command needs root, iperf3, and everything that BPF flows need.
"""

import argparse
import json
import re
import threading

import numpy as np

from ccmatic.base import InputError
from ccmatic.emulation import kinds, link, machine, measures, run

EVERY = 0.02

#: The largest number of bytes with which iperf3 negotiates a test.
TALK = 10_000


def windows(path, name, seconds):
    """Emulate a flow, and return the Emulation and the flow's windows."""
    done, looks = threading.Event(), []
    watcher = threading.Thread(target=_watch, args=(done, looks))
    watcher.start()
    try:
        emulation = run.emulate(path, [kinds.request(name)], seconds)
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
    parser.add_argument("--json", action="store_true")
    parser.add_argument("flows", nargs="+", metavar="FLOW")
    given = parser.parse_args()
    path = link.of_texts(given.rate, given.rtt, given.buffer)
    rows = []
    for name in given.flows:
        result = row(path, name, given.seconds)
        rows.append(result | {"off": result["mean"] / (rows[0] if rows else result)["mean"] - 1})
        print(json.dumps(rows[-1]) if given.json else as_text(rows[-1]), flush=True)


def as_text(result):
    """Return the line of a flow."""
    parts = [f"{name} {result[name]:.1f}" for name in ("mean", "p5", "p50", "p95")]
    parts += [f"utilisation {result['utilisation']:.1%}", f"lost {result['lost']}", f"off {result['off']:+.1%}"]
    return "  ".join([f"{result['flow']:<14}", *parts, *result["faults"]])


if __name__ == "__main__":
    main()
