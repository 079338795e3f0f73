"""What benchmarks define."""

import runpy
import sys

from support import ROOT

BENCHMARKS = ROOT / "benchmarks"


def defined_by(name):
    """By name, what a benchmark defines, which imports what stands beside it."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return runpy.run_path(str(BENCHMARKS / name))
    finally:
        sys.path.remove(str(BENCHMARKS))
