"""Measure how long a sender's C code takes for one computation, and for all work on one packet."""

import subprocess
import tempfile
from pathlib import Path

from ccmatic.deployment.exporting import targets
from ccmatic.worlds.runtime.library import compile_c

#: The measured flow has 96 Mbit/s, which is 8 packets per millisecond. Packets are acknowledged after 40 ms.
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
    """Measure a sender's times in ns. Each time is the smallest of five runs.

    Args:
        export: The export of the sender.
        value: A C expression that reads the sender `s`. The measured code computes it repeatedly.
        change: A C statement before the `i`-th computation.
        times: The number of computations.

    Returns:
        The time of one computation, and the time of one packet. The time of a packet includes its sending, its
        acknowledgement, and all updates that these events cause.
    """
    with tempfile.TemporaryDirectory() as folder:
        targets.write(export, "c", folder)
        source, program = Path(folder) / "main.c", Path(folder) / "main"
        written = PROGRAM.replace("VALUE", value).replace("CHANGE", change).replace("TIMES", str(times))
        source.write_text(written.replace("NAME", export.name))
        compile_c(["-std=gnu99", "-O2", "-o", str(program), str(source), "-lm"])
        runs = [subprocess.run([program], capture_output=True, text=True).stdout.split() for _ in range(5)]
    return tuple(min(float(run[column]) for run in runs) for column in (0, 1))
