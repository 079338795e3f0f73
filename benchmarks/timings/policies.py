"""Measure how long a policy's C code takes for one inference, and for one packet with every update that it causes.

    python -m benchmarks.timings.policies POLICY.json…

Without a file, there are two policies: Aurora's network (layers of 32 and 16 units on 10 vectors of 3 numbers) and
Custard's network (three layers of 32 units on 10 vectors of 6 numbers). All weights are 0, because the weights do not
change the duration of the computation. The command uses one core and CLOCK_MONOTONIC, and prints the smallest time of
five runs. A packet of 1500 bytes is sent every 125 us, over a path of 40 ms.
"""

import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from benchmarks.lib.sender_times import measure
from ccmatic import records
from ccmatic.controllers import signal
from ccmatic.deployment import policies

#: The measured value of a policy's network, and the change before the measurement, as arguments of `measure`.
INFERS = "ccm_network(s.watch.history)", "s.watch.history[i % (CCM_HISTORY * CCM_FEATURES)] += 1e-3f"


def zeros(folder, observe, layers):
    """Write the file of a policy whose network has these hidden layers and zero weights."""
    sizes = [10 * signal.load("observe", observe).size, *layers, 1]
    made = [records.LayerRecord([[0.0] * given] * taken, [0.0] * given) for taken, given in pairwise(sizes)]
    names = {"observe": observe, "act": observe, "reward": observe, "history": 10, "delay": 0, "interval": "1"}
    path = folder / f"{observe}_{'_'.join(map(str, layers))}.json"
    policies.save(records.PolicyFile(query={}, seed=0, layers=made, curve=[], **names), path)
    return path


def main():
    """Print a line per policy."""
    with tempfile.TemporaryDirectory() as folder:
        shipped = (("aurora", (32, 16)), ("custard", (32, 32, 32)))
        for path in sys.argv[1:] or [zeros(Path(folder), *network) for network in shipped]:
            export = policies.exported(policies.load(path))
            inference, packet = measure(export, *INFERS, times=20_000)
            print(f"{Path(path).stem:<18} {inference:7.1f} ns an inference  {packet:6.1f} ns a packet, all included")


if __name__ == "__main__":
    main()
