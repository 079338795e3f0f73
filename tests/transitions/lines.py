"""The proved lines of the table that `python -m benchmarks.studies.invariants` prints, as rows."""

import json
from pathlib import Path

from ccmatic.proving.expectations import asked, claim_of

from .rows import Row

#: The sizes of packets in executions, in C·R_m, by the condition of a line.
PACKETS = {"1/20 <= alpha <= 1/10": ("1/20", "1/10"), "": Row.packets}


def proved_lines(file):
    """Return a Row for each controller on a network, with all claims that are proved, from the study's JSON lines."""
    claims = {}
    for text in Path(file).read_text().splitlines():
        line = json.loads(text)
        if line["verdict"] == "proved":
            claims.setdefault((line["name"], line["on"], line["given"]), []).append(line["expect"])
    return [_row(*about, expected) for about, expected in claims.items()]


def _row(name, on, given, expected):
    questions = [asked(name, on, expect) for expect in expected]
    record = questions[0].query.record()
    size = record["property"]["given"].removeprefix("alpha == ")
    packets = (size,) if size else PACKETS[given]
    claims = tuple(claim_of(question) for question in questions)
    return Row(name, record["model"], record["buffer"], int(record["jitter"]), packets, claims)
