"""Report estimates, as text for readers and as records."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from fractions import Fraction
from math import isinf

from ccmatic import records
from ccmatic.answers.estimation.estimate import Estimate
from ccmatic.base import aligned

#: The quantities that have possible values: the fields of PossibleValues.
QUANTITIES = ("C", "queue", "delay", "waited")


def line(estimate: Estimate) -> records.EstimateLine:
    """Return an Estimate as the record that `estimate --json` prints."""
    ranges = {name: records.RangeRecord(**asdict(getattr(estimate.possible, name))) for name in QUANTITIES}
    believed = {name: None if isinf(value) else Fraction(value) for name, value in estimate.declared.items()}
    return records.EstimateLine(estimate.t, **ranges, believed=believed)


def text(estimates: Sequence[Estimate]) -> str:
    """Return a table with one row per Estimate: first the possible values, then the beliefs."""
    names = list(estimates[0].declared)
    rows = [
        (estimate.t, *_ranges(estimate), *(_number(estimate.declared[name]) for name in names))
        for estimate in estimates
    ]
    return "\n".join(aligned([("t", *QUANTITIES, *names), *rows]))


def _ranges(estimate: Estimate) -> Iterator[str]:
    for name in QUANTITIES:
        bounds = getattr(estimate.possible, name)
        if bounds.least is None:
            yield "any"
        elif bounds.most is None:
            yield f"≥ {_number(bounds.least)}"
        elif bounds.least == bounds.most:
            yield _number(bounds.least)
        else:
            yield f"{_number(bounds.least)} … {_number(bounds.most)}"


def _number(value: Fraction | float) -> str:
    return "-" if isinf(value) else f"{float(value):.4g}"
