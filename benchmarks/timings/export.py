"""How long exported C takes: a decision, and an acknowledgement with all that it moves, for every shipped controller.

usage: python -m benchmarks.timings.export [CONTROLLER…]
"""

import sys

from benchmarks.lib.sender_times import measure
from ccmatic.base import definitions
from ccmatic.exporting import header


def main():
    """Print a line a controller."""
    decides = "ccm_decide(&s.w.beliefs[i % CCM_STEPS], 1500, 0)", "s.w.beliefs[i % CCM_STEPS].C_L ^= i & 255"
    for name in sys.argv[1:] or definitions.shipped("synthesized"):
        decision, packet = measure(header.make(name), *decides, times=10_000_000)
        print(f"{name:<16} {decision:6.1f} ns a decision  {packet:6.1f} ns a packet, all included")


if __name__ == "__main__":
    main()
