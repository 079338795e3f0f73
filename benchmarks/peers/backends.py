"""How far fluids are from packets, and packets from the kernel: the same senders on the same links, each three ways.

    python -m benchmarks.peers.backends [--senders NAME…] [--buffers BDP…] [--out FILE.json]

The links: 24 Mbit/s, R_m of 40 ms, no jitter, buffers of so many BDPs (1/4 and 2). A sender is a controller in the
fluid simulator of learners (`cubic` there is RFC 9438's) and in the packet simulator, and over the emulator (as root)
what sends real packets: its C over UDP if it forms beliefs, the kernel's of its name else. Steps of controllers of
beliefs take two R_m, as in C. Printed are utilisation, mean and 95th percentile of the queueing delay in ms, and the
share lost, after a warm-up: of 20 s of 60 in both simulators, and of a run of 20 s over the emulator as long as beliefs
take to converge, or a third.
"""

import argparse
import json
from fractions import Fraction
from pathlib import Path

import jax
import numpy as np

from ccmatic.evaluation.runs import SECONDS, WARM_UP, Scenario, emulated, simulated
from ccmatic.exporting import header
from ccmatic.learning import Environment, LinkOptions, sender
from ccmatic.learning.envs import rollout

SENDERS, BUFFERS = ("cc_qdel", "cc_probe_slow", "reno", "cubic", "bbr"), (Fraction(1, 4), Fraction(2))

RATE, RTT = 24, 40


def fluid(name, buffer):
    """What a controller does in the fluid simulator."""
    steps = 1 if header.make(name).remembers else 2
    count = SECONDS * 1000 // (RTT * steps)
    asked = LinkOptions(rate=RATE, rtt=RTT, buffer_bdp=float(buffer), interval=steps, steps=count, first=1)
    environment = Environment(asked, act="rate")
    episode = rollout(environment, sender(name, environment), jax.random.key(0), 1)
    now = jax.tree.map(lambda column: np.float64(column[count * WARM_UP // SECONDS :, 0, 0]), episode.knowledge.now)
    delays, order = now.rtt * 1000 - RTT, np.argsort(now.rtt)
    share = np.cumsum(now.acked[order]) / now.acked.sum()
    return [
        now.acked.sum() / (now.seconds.sum() * RATE * 125_000),
        np.average(delays, weights=now.acked),
        delays[order][np.searchsorted(share, 0.95)],
        now.lost.sum() / (now.acked.sum() + now.lost.sum()),
    ]


def told(found):
    """The same four of what was measured."""
    delay = found["queueing_delay_ms"]
    return [found["utilisation"], delay.mean, delay.p95, found["lost"] / found["packets"]]


def main():
    """Print a line for each sender, buffer and way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--senders", nargs="+", default=SENDERS)
    parser.add_argument("--buffers", nargs="+", type=Fraction, default=BUFFERS)
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    given, rows = parser.parse_args(), []
    for name in given.senders:
        real = name if header.make(name).remembers else f"udp:{name}"
        for buffer in given.buffers:
            run = emulated(real, Scenario((RATE,), RTT, buffer, "none", "real"))
            ways = {
                "fluid": fluid(name, buffer),
                "packets": told(simulated(name, Scenario((RATE,), RTT, buffer, "none"))),
                "kernel": told(run),
            }
            rows.append({"sender": name, "buffer_bdp": float(buffer), "faults": run["faults"], **ways})
            for way, values in ways.items():
                print(f"{name:14} {float(buffer):5} BDP  {way:8}" + "{:7.3f} {:7.2f} {:7.2f} {:8.5f}".format(*values))
            for fault in run["faults"]:
                print(f"  not a valid run: {fault}", flush=True)
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
