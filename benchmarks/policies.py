"""How long a policy in C takes: an inference, and all that a packet costs.

    python benchmarks/policies.py POLICY.json…

Without a file: Aurora's network (32-16 on 10 vectors of 3) and Custard's (32-32-32 on 10 of 6), of zeros, which take as
long as any others. One core, by CLOCK_MONOTONIC, the least of five runs; packets of 1500 bytes, one each 125 us, over
40 ms."""

import subprocess
import sys
import tempfile
from itertools import pairwise
from pathlib import Path

from ccmatic import policies, records
from ccmatic.codegen import files
from ccmatic.codegen.library import compile_c

PROGRAM = """\
#include <stdio.h>
#include <time.h>
#include "NAME.h"

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(void)
{
    enum { PACKETS = 500000, INFERENCES = 20000 };
    static struct ccm_sender s;
    uint64_t sum = 0, at = 0;
    double begun = now_ns();

    ccm_init(&s, 0, 40000000, 1500);
    for (int i = 0; i < PACKETS; i++, at += 125000) {
        ccm_sent(&s, at, 1500);
        if (at > 40000000)
            ccm_acked(&s, at, at - 40000000, 1500);
        sum += ccm_rate(&s, at);
    }
    double packet = (now_ns() - begun) / PACKETS;

    float actions = 0;
    begun = now_ns();
    for (unsigned i = 0; i < INFERENCES; i++) {
        s.history[i % (CCM_HISTORY * CCM_FEATURES)] += 1e-3f;
        actions += ccm_network(s.history);
    }
    printf("%.1f %.1f\\n", (now_ns() - begun) / INFERENCES, packet);
    return sum == 42 && actions > 1e30f;
}
"""


def zeros(folder, observe, layers):
    """The file of a policy whose network has these hidden layers."""
    sizes = [10 * policies.OBSERVATIONS[observe], *layers, 1]
    made = [records.LayerRecord([[0.0] * given] * taken, [0.0] * given) for taken, given in pairwise(sizes)]
    asked = {"observe": observe, "act": observe, "reward": observe, "history": 10, "delay": 0, "interval": "1"}
    path = folder / f"{observe}_{'_'.join(map(str, layers))}.json"
    policies.save(records.PolicyFile(query={}, seed=0, layers=made, curve=[], **asked), path)
    return path


def measure(path):
    """(ns an inference, ns a packet: sent, acknowledged, intervals and inferences)."""
    export = policies.PolicyExport(policies.load(path))
    with tempfile.TemporaryDirectory() as folder:
        files.write(export, "c", folder)
        source, program = Path(folder) / "main.c", Path(folder) / "main"
        source.write_text(PROGRAM.replace("NAME", export.name))
        compile_c(["-std=gnu99", "-O2", "-o", str(program), str(source), "-lm"])
        runs = [subprocess.run([program], capture_output=True, text=True).stdout.split() for _ in range(5)]
        return tuple(min(float(run[column]) for run in runs) for column in (0, 1))


def main():
    """Print a line a policy."""
    with tempfile.TemporaryDirectory() as folder:
        shipped = (("aurora", (32, 16)), ("custard", (32, 32, 32)))
        for path in sys.argv[1:] or [zeros(Path(folder), *network) for network in shipped]:
            inference, packet = measure(path)
            print(f"{Path(path).stem:<18} {inference:7.1f} ns an inference  {packet:6.1f} ns a packet, all included")


if __name__ == "__main__":
    main()
