"""Verdicts of CCAC's published tool (tests/peer_verdicts/ccac), asked again by benchmarks/peers/ccac.py."""

import importlib
import json
import sys

from support import ROOT, TESTS
from support.benchmarks import module

#: Of the queries in the sample.
LONGEST = 6
FILES = sorted((TESTS / "peer_verdicts" / "ccac").glob("*.json"))


def benchmark():
    """The module."""
    sys.path.insert(0, str(ROOT))
    try:
        return importlib.import_module(module("ccac"))
    finally:
        sys.path.remove(str(ROOT))


def queries():
    """Every query: its file's stem, its name, and what the file has of it."""
    for file in FILES:
        for name, entry in json.loads(file.read_text()).items():
            yield file.stem, name, entry


def sample():
    """Return the shortest query for each controller, kind of question and encoding, with the fastest case of each
    verdict.
    """
    shortest = {}
    for stem, name, entry in queries():
        asked = entry["query"]
        if asked["T"] > LONGEST:
            continue
        kind = stem, asked["group"], entry["encoding"], asked["R"], asked["D"]
        if kind not in shortest or asked["T"] < shortest[kind][1]["query"]["T"]:
            shortest[kind] = name, entry
    for name, entry in shortest.values():
        cases = sorted(entry["cases"], key=lambda case: case.get("cpu_seconds") or 0)
        quickest = {case["verdict"]: case for case in reversed(cases)}
        yield name, {**entry, "cases": list(quickest.values())}
