"""How long exported C takes: a decision, and an acknowledgement with all that it moves, for every shipped controller.

usage: python benchmarks/export.py [CONTROLLER…]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from ccmatic.base import definitions
from ccmatic.codegen import header
from ccmatic.codegen.files import write
from ccmatic.codegen.library import compile_c

#: A flow whose packets are answered after 40 ms, at 96 Mbit/s: 8 packets a millisecond, and a step is 640 packets.
PROGRAM = r"""
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
    enum { PACKETS = 2000000 };
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

    begun = now_ns();
    for (unsigned i = 0; i < 50000000; i++) {
        struct ccm_beliefs *b = &s.w.beliefs[i % CCM_STEPS];
        b->C_L ^= i & 255;
        sum += ccm_decide(b, 1500, 0);
    }
    printf("%.1f %.1f\n", (now_ns() - begun) / 50000000, packet);
    return sum == 42;
}
"""


def measure(name):
    """(ns a decision, ns a packet: sent, acknowledged, steps and decision) of a controller."""
    export = header.make(name)
    with tempfile.TemporaryDirectory() as folder:
        write(export, "c", folder)
        source, program = Path(folder) / "main.c", Path(folder) / "main"
        source.write_text(PROGRAM.replace("NAME", export.name))
        compile_c(["-std=gnu99", "-O2", "-o", str(program), str(source)])
        return tuple(map(float, subprocess.run([program], capture_output=True, text=True).stdout.split()))


def main():
    """Print a line a controller."""
    for name in sys.argv[1:] or definitions.shipped("synthesized"):
        decision, packet = measure(name)
        print(f"{name:<16} {decision:6.1f} ns a decision  {packet:6.1f} ns a packet, all included")


if __name__ == "__main__":
    main()
