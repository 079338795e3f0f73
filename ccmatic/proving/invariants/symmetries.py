"""Shifts of columns that change no law: for example, all counts of bytes may begin at another number."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

#: A number for each column, by name.
Shift = dict[str, Fraction]


def shifts(rows: Iterable[Mapping[str, Fraction]], names: Sequence[str]) -> dict[str, dict[str, Fraction]]:
    """Return a basis of the shifts that change none of the rows.

    A shift adds a number to each column. Each member of the basis belongs to one column, its pivot. It adds 1 to the
    pivot, and 0 to the pivots of the other members.

    Args:
        rows: A row for each linear term of the laws. A row has the sum of the coefficients of each column.
        names: The names of the columns. Names that come first are preferred as pivots.

    Returns:
        The shifts by their pivots. A shift has a number for each column that it changes.
    """
    free = [{other: Fraction(name == other) for other in names} for name in names]
    known = set(names)
    for row in rows:
        read = [(name, number) for name, number in row.items() if name in known]
        values = [sum((number * shift[name] for name, number in read if shift[name]), Fraction(0)) for shift in free]
        # Of all shifts that change the row, the last one leaves the basis. The others are corrected by it.
        chosen = next((place for place in reversed(range(len(free))) if values[place]), None)
        if chosen is None:
            continue
        removed, amount = free.pop(chosen), values.pop(chosen)
        for shift, value in zip(free, values, strict=True):
            for name in names if value else ():
                shift[name] -= removed[name] * value / amount
    return {name: {other: number for other, number in shift.items() if number} for name, shift in _reduced(free, names)}


def _reduced(basis: list[Shift], names: Sequence[str]) -> list[tuple[str, Shift]]:
    """Return the reduced basis, each member with its pivot."""
    reduced: list[tuple[str, Shift]] = []
    for name in names:
        chosen = next((shift for shift in basis if shift[name]), None)
        if chosen is None:
            continue
        basis = [shift for shift in basis if shift is not chosen]
        chosen = {other: number / chosen[name] for other, number in chosen.items()}
        for shift in [*basis, *(shift for _, shift in reduced)]:
            factor = shift[name]
            for other in names if factor else ():
                shift[other] -= factor * chosen[other]
        reduced.append((name, chosen))
    return reduced
