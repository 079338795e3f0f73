"""The windows of the kernel's flows over time, each alone on the same emulated link.

    python -m benchmarks.peers.windows [--rate 12mbit] [--rtt 40ms] [--buffer 1bdp] [--seconds 20] [--json] FLOW…

FLOW: one of the kernel's, or bpf:CONTROLLER. A window is looked at every 20 ms; of those of the last half of a run, in
segments, the 5th, 50th and 95th percentile and the mean are told, and the share of the link that was used; and how many
percent the means of the others are off that of the first. Needs root, iperf3, and what BPF flows need.
"""

import argparse
import json
import re
import threading

import numpy as np

from ccmatic.base import InputError
from ccmatic.emulation import kinds, link, machine, measures, run

EVERY = 0.02

#: Bytes at most by which iperf3 agrees on a test.
TALK = 10_000


def windows(asked, name, seconds):
    """The Emulation of a flow, and its windows while it ran."""
    done, looks = threading.Event(), []
    watcher = threading.Thread(target=_watch, args=(done, looks))
    watcher.start()
    try:
        emulation = run.emulate(asked, [kinds.request(name)], seconds)
    finally:
        done.set()
        watcher.join()
    return emulation, looks


def _watch(done, looks):
    while not done.wait(EVERY):
        if (window := _window()) is not None:
            looks.append(window)


def _window():
    """The window of the flow that runs; None if none has sent more than iperf3's talk."""
    busiest = TALK, None
    for namespace in machine.NAMESPACES.glob("ccm-*-a") if machine.NAMESPACES.exists() else ():
        for line in machine._sockets(namespace.name, "--info", "dport", "=", f":{run.PORT}").splitlines():
            found = dict(re.findall(r"\b(cwnd|bytes_sent):(\d+)", line))
            if len(found) == 2:
                busiest = max(busiest, (int(found["bytes_sent"]), int(found["cwnd"])))
    return busiest[1]


def row(asked, name, seconds):
    """What is told of a flow."""
    emulation, looks = windows(asked, name, seconds)
    if not looks:
        raise InputError(f"no window of {name} was seen; expected a TCP flow: one of the kernel's, or bpf:CONTROLLER")
    late = looks[len(looks) // 2 :]
    low, median, high = np.percentile(late, (5, 50, 95))
    summary = measures.summed_up(emulation, seconds / 2)
    told = {"flow": name, "mean": float(np.mean(late)), "p5": low, "p50": median, "p95": high}
    return told | {"utilisation": summary["utilisation"], "lost": summary["lost"], "faults": emulation.faults}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, default in {"rate": "12mbit", "rtt": "40ms", "buffer": "1bdp"}.items():
        parser.add_argument(f"--{option}", default=default)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("flows", nargs="+", metavar="FLOW")
    given = parser.parse_args()
    asked = link.of_texts(given.rate, given.rtt, given.buffer)
    rows = []
    for name in given.flows:
        found = row(asked, name, given.seconds)
        rows.append(found | {"off": found["mean"] / (rows[0] if rows else found)["mean"] - 1})
        print(json.dumps(rows[-1]) if given.json else as_text(rows[-1]), flush=True)


def as_text(found):
    told = [f"{name} {found[name]:.1f}" for name in ("mean", "p5", "p50", "p95")]
    told += [f"utilisation {found['utilisation']:.1%}", f"lost {found['lost']}", f"off {found['off']:+.1%}"]
    return "  ".join([f"{found['flow']:<14}", *told, *found["faults"]])


if __name__ == "__main__":
    main()
