"""Estimates for people, and as records."""

from dataclasses import asdict
from math import isinf

from ccmatic import records
from ccmatic.base import aligned

#: What is possible, by name: fields of Possible.
QUANTITIES = ("C", "queue", "delay", "waited")


def line(estimate):
    """The record of `estimate --json`."""
    ranges = {name: records.RangeRecord(**asdict(getattr(estimate.possible, name))) for name in QUANTITIES}
    believed = {name: None if isinf(value) else value for name, value in estimate.declared.items()}
    return records.EstimateLine(estimate.t, **ranges, believed=believed)


def text(found):
    """A table, a row an Estimate: what is possible, then the beliefs."""
    names = list(found[0].declared)
    rows = [(each.t, *_ranges(each), *(_number(each.declared[name]) for name in names)) for each in found]
    return "\n".join(aligned([("t", *QUANTITIES, *names), *rows]))


def _ranges(estimate):
    for name in QUANTITIES:
        found = getattr(estimate.possible, name)
        if found.least is None:
            yield "any"
        elif found.most is None:
            yield f"≥ {_number(found.least)}"
        elif found.least == found.most:
            yield _number(found.least)
        else:
            yield f"{_number(found.least)} … {_number(found.most)}"


def _number(value):
    return "-" if isinf(value) else f"{float(value):.4g}"
