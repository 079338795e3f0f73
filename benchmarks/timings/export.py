"""Measure how long exported C code takes for one decision and for one packet, for each shipped controller.

    python -m benchmarks.timings.export [CONTROLLER…]

The time of a packet includes every update that the packet causes.
"""

import sys

from benchmarks.lib.sender_times import measure
from ccmatic.base import definitions
from ccmatic.deployment.exporting import header


def main():
    """Print a line per controller."""
    decides = "ccm_decide(&s.w.beliefs[i % CCM_STEPS], 1500, 0)", "s.w.beliefs[i % CCM_STEPS].C_L ^= i & 255"
    for name in sys.argv[1:] or definitions.shipped("synthesized"):
        decision, packet = measure(header.make(name), *decides, times=10_000_000)
        print(f"{name:<16} {decision:6.1f} ns a decision  {packet:6.1f} ns a packet, all included")


if __name__ == "__main__":
    main()
