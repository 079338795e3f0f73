"""Measure how long `ccmatic fit` takes for a log, for both models, over the whole log and in windows.

    python -m benchmarks.timings.fit [PACKETS]

PACKETS is the number of packets in the log, 10^7 by default.
"""

import resource
import sys
import time

import numpy as np

from ccmatic.fitting import packet_log
from ccmatic.fitting.fit import MODELS, fit

#: The rate in bytes per second, and the propagation delay and the jitter in seconds.
RATE, PROPAGATION, JITTER = 12_500_000, 0.04, 0.01


def log(packets):
    """Return the log of a link of 100 Mbit/s. Bursts of packets of three sizes use 90 % of the link."""
    random = np.random.default_rng(1)
    size = random.choice([40, 600, 1500, 1500], packets)
    loads = random.choice([0.05, 2.5], packets // 50 + 1, p=[0.6, 0.4]).repeat(50)[:packets]
    sent = np.cumsum(random.exponential(1, packets) * size / RATE / 0.9 * loads)
    through = np.cumsum(size) / RATE
    left = through + np.maximum.accumulate(sent - through + size / RATE)
    delivered = np.maximum.accumulate(left + PROPAGATION + random.uniform(0, JITTER, packets))
    return packet_log("synthetic", np.rint(sent * 1e9), np.rint(delivered * 1e9), size)


def main(packets):
    """Print the processor seconds for each model, the total time by the clock, and the memory."""
    made = log(packets)
    begun = time.perf_counter(), time.process_time()
    for model in MODELS:
        before = time.process_time()
        (fit_,) = fit(made, (model,)).fits
        seconds = time.process_time() - before
        print(f"{model}: {packets} packets, {len(fit_.jitters)} windows: {seconds:.1f} s, D {fit_.jitter * 1e3:.3f} ms")
    clock, processor = time.perf_counter() - begun[0], time.process_time() - begun[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"together {processor:.1f} s of a processor, {clock:.1f} s on the clock, {peak:.2g} GiB")


if __name__ == "__main__":
    main(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7)
