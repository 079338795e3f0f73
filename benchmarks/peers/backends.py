"""Compare fluids, simulated packets and the kernel: run the same senders on the same links on three back ends.

    python -m benchmarks.peers.backends [--senders NAME…] [--buffers BDP…]

The links have 24 Mbit/s, an R_m of 40 ms, no jitter, and by default buffers of 1/4 and 2 BDPs. A sender runs

1. in the fluid simulator for learning, as a controller (`cubic` there follows RFC 9438);
2. in the packet simulator, as a controller;
3. over the emulator (as root), with real packets: as C code over UDP if the sender forms beliefs, otherwise as the
   kernel's sender of the same name.

For a controller that forms beliefs, a step takes two R_m, as in its C code. The command prints utilisation, the mean
and the 95th percentile of the queueing delay in ms, and the lost share, all after a warm-up. The simulators run for 60
s, with a warm-up of 20 s. The emulator runs for 20 s. Its warm-up lasts until beliefs have converged, or otherwise for
a third of the run. The emulator makes five runs: the command prints the median and, in brackets, the smallest and the
largest value of the valid runs. It attempts an invalid run at most three times.
"""

import argparse
from fractions import Fraction
from operator import itemgetter

import jax
import numpy as np

from benchmarks.lib import real_runs
from ccmatic.deployment.exporting import header
from ccmatic.evaluation.runs import SECONDS, WARM_UP, Scenario, emulated, simulated
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
    given = parser.parse_args()
    for name in given.senders:
        real = name if header.make(name).remembers else f"udp:{name}"
        for buffer in given.buffers:
            path = Scenario((RATE,), RTT, buffer, "none", "real")
            runs, note = real_runs.valid(lambda: emulated(real, path), itemgetter("faults"))  # noqa: B023
            ways = {
                "fluid": ([fluid(name, buffer)], ""),
                "packets": ([four_measures(simulated(name, Scenario((RATE,), RTT, buffer, "none")))], ""),
                "kernel": ([four_measures(run) for run in runs], note),
            }
            for way, (values, note) in ways.items():
                columns = zip(zip(*values, strict=True), (".3f", ".2f", ".2f", ".5f"), strict=False)
                text = "  ".join(real_runs.spread(column, form) for column, form in columns)
                print(f"{name:14} {float(buffer):5} BDP  {way:8}{text}{note}", flush=True)


if __name__ == "__main__":
    main()
