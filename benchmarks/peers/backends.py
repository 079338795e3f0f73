"""Compare fluids, simulated packets and the kernel: run the same senders on the same links on three back ends.

    python -m benchmarks.peers.backends [--senders NAME…] [--buffers BDP…] [--out FILE.json]

The links have 24 Mbit/s, an R_m of 40 ms, no jitter, and by default buffers of 1/4 and 2 BDPs. A sender runs

1. in the fluid simulator for learning, as a controller (`cubic` there follows RFC 9438);
2. in the packet simulator, as a controller;
3. over the emulator (as root), with real packets: as C code over UDP if the sender forms beliefs, otherwise as the
   kernel's sender of the same name.

For a controller that forms beliefs, a step takes two R_m, as in its C code. The command prints utilisation, the mean
and the 95th percentile of the queueing delay in ms, and the lost share, all after a warm-up. The simulators run for 60
s, with a warm-up of 20 s. The emulator runs for 20 s. Its warm-up lasts until beliefs have converged, or otherwise for
a third of the run.
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
    """Measure a controller in the fluid simulator."""
    steps = 1 if header.make(name).remembers else 2
    count = SECONDS * 1000 // (RTT * steps)
    links = LinkOptions(rate=RATE, rtt=RTT, buffer_bdp=float(buffer), interval=steps, steps=count, first=1)
    environment = Environment(links, act="rate")
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


def four_measures(measures):
    """Return the four measures that `fluid` also returns, from a record of measures."""
    delay = measures["queueing_delay_ms"]
    return [measures["utilisation"], delay.mean, delay.p95, measures["lost"] / measures["packets"]]


def main():
    """Print a line for each sender, buffer and back end."""
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
                "packets": four_measures(simulated(name, Scenario((RATE,), RTT, buffer, "none"))),
                "kernel": four_measures(run),
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
