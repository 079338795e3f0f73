"""Guarantees on a path as text for people: tables that fit a terminal, the best guarantee first."""

from collections.abc import Iterable
from itertools import groupby
from math import inf
from textwrap import fill
from typing import Any

from ccmatic.base import aligned
from ccmatic.proving.guarantees.translation import digits

#: The width of a terminal of the usual size.
WIDTH = 80


def text(lines: Iterable[Any]) -> str:
    """Return GuaranteeLines of a controller as text: a table for each path, and the conditions of the best guarantee.

    Covered paths come first. The best guarantee has the largest utilisation, and then the shortest queueing delay.
    """
    ranked = sorted(lines, key=_rank)
    best, more = ranked[0], "The other guarantees have conditions of their own, which --json states."
    parts = []
    for (basis, missing), rows in groupby(ranked, lambda line: (line.basis, line.missing)):
        verdict = "not covered; what is missing:" if missing else "covered, the best guarantee first:"
        parts.append(f"{best.controller}, {f'{basis}: ' if basis else ''}{verdict}")
        parts += [fill(each, WIDTH, initial_indent="- ", subsequent_indent="  ") for each in missing]
        table = [row for row in rows if row.step is not None]
        parts += _table(table) if table else []
        if best in table:
            means = (
                f"{'With that, ' if missing else ''}{best.proof} ({best.model}), in steps of {best.step * 1000:.4g} ms"
            )
            required = f"{best.says}. Required: {best.conditions}. {more if len(ranked) > 1 else ''}"
            parts.append(fill(f"{means}: {required}", WIDTH))
    return "\n".join(parts)


def _rank(line: Any) -> tuple[Any, ...]:
    queueing = inf if line.inflight is None else line.inflight / line.rate
    return not line.covered, line.basis or "", line.missing, -(line.utilisation or 0), queueing


def _table(lines: list[Any]) -> list[str]:
    """Return the bounds of guarantees. They are rounded so that they stay true."""
    columns = {
        "D ms": [digits(1000 * line.jitter, up=False) for line in lines],
        "C used": ["-" if not line.utilisation else f"{digits(100 * line.utilisation, up=False)}%" for line in lines],
        "queue ms": ["-" if line.inflight is None else digits(1000 * line.inflight / line.rate) for line in lines],
        "buffer kB": ["any" if line.buffer is None else digits(line.buffer / 1000) for line in lines],
        "lost/step": ["-" if line.lost_in_step is None else str(line.lost_in_step) for line in lines],
    }
    told = {head: cells for head, cells in columns.items() if {*cells} != {"-"}}
    return aligned([("proof", *told), *zip((line.proof for line in lines), *told.values(), strict=True)], left=1)
