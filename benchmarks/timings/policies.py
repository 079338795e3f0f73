"""How long a policy in C takes: an inference, and all that a packet costs.

    python -m benchmarks.timings.policies POLICY.json…

Without a file: Aurora's network (32-16 on 10 vectors of 3) and Custard's (32-32-32 on 10 of 6), of zeros, which take as
long as any others. One core, by CLOCK_MONOTONIC, the least of five runs; packets of 1500 bytes, one each 125 us, over
40 ms."""

import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from benchmarks.lib.sender_times import measure
from ccmatic import records
from ccmatic.controllers import signal
from ccmatic.learning import policies

#: What is measured of a policy: the value of its network, and a change before it, as `measure` says.
INFERS = "ccm_network(s.watch.history)", "s.watch.history[i % (CCM_HISTORY * CCM_FEATURES)] += 1e-3f"


def zeros(folder, observe, layers):
    """The file of a policy whose network has these hidden layers."""
    sizes = [10 * signal.load("observe", observe).size, *layers, 1]
    made = [records.LayerRecord([[0.0] * given] * taken, [0.0] * given) for taken, given in pairwise(sizes)]
    asked = {"observe": observe, "act": observe, "reward": observe, "history": 10, "delay": 0, "interval": "1"}
    path = folder / f"{observe}_{'_'.join(map(str, layers))}.json"
    policies.save(records.PolicyFile(query={}, seed=0, layers=made, curve=[], **asked), path)
    return path


def main():
    """Print a line a policy."""
    with tempfile.TemporaryDirectory() as folder:
        shipped = (("aurora", (32, 16)), ("custard", (32, 32, 32)))
        for path in sys.argv[1:] or [zeros(Path(folder), *network) for network in shipped]:
            export = policies.exported(policies.load(path))
            inference, packet = measure(export, *INFERS, times=20_000)
            print(f"{Path(path).stem:<18} {inference:7.1f} ns an inference  {packet:6.1f} ns a packet, all included")


if __name__ == "__main__":
    main()
