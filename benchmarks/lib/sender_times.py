"""How long a sender in C takes: what it does over and over, and all that a packet costs."""

import subprocess
import tempfile
from pathlib import Path

from ccmatic.exporting import files
from ccmatic.runtime.library import compile_c

#: A flow whose packets are answered after 40 ms, at 96 Mbit/s: 8 packets a millisecond.
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
    enum { PACKETS = 500000 };
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

    unsigned i = 0;
    __typeof__(VALUE) all = 0;
    begun = now_ns();
    for (; i < TIMES; i++) {
        CHANGE;
        all += VALUE;
    }
    printf("%.1f %.1f %g\n", (now_ns() - begun) / TIMES, packet, (double)all + (double)sum);
}
"""


def measure(export, value, change, times):
    """(ns to compute a value, ns a packet: sent, acknowledged, and all that this moves), the least of five runs.

    value: a C expression of the sender `s`; change: a statement before it is computed for the `i`-th of some times."""
    with tempfile.TemporaryDirectory() as folder:
        files.write(export, "c", folder)
        source, program = Path(folder) / "main.c", Path(folder) / "main"
        written = PROGRAM.replace("VALUE", value).replace("CHANGE", change).replace("TIMES", str(times))
        source.write_text(written.replace("NAME", export.name))
        compile_c(["-std=gnu99", "-O2", "-o", str(program), str(source), "-lm"])
        runs = [subprocess.run([program], capture_output=True, text=True).stdout.split() for _ in range(5)]
    return tuple(min(float(run[column]) for run in runs) for column in (0, 1))
