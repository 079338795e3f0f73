"""Runs of real packets: repeat each run, because two runs of one link differ, and summarise the valid runs."""

from operator import attrgetter
from statistics import median

#: The number of runs of a cell, and the number of attempts to get one valid run.
RUNS, ATTEMPTS = 5, 3


def attempted(run, faults=attrgetter("faults")):
    """Return the first valid result of `run()`, or the last result if no attempt is valid.

    Args:
        run: A function without arguments.
        faults: A function that returns the faults of a result. A valid result has none.
    """
    for _ in range(ATTEMPTS):
        result = run()
        if not faults(result):
            break
    return result


def spread(numbers, form, unit=""):
    """Return the median of numbers and, in brackets, the smallest and the largest number.

    The text has one number if all numbers have the same text.

    Args:
        numbers: The numbers, in any order, such as the losses of five runs.
        form: The format of a number, such as `.1f`.
        unit: The text behind the median, such as ` ms`.
    """
    middle, least, most = (f"{number:{form}}" for number in (median(numbers), min(numbers), max(numbers)))
    return f"{middle}{unit}" + ("" if least == most else f" [{least} to {most}]")


def valid(run, faults=attrgetter("faults"), runs=RUNS):
    """Return the valid results of several runs, and the note of `count`. See `attempted` for the arguments."""
    every = [attempted(run, faults) for _ in range(runs)]
    kept = [result for result in every if not faults(result)]
    return kept, count(len(kept), runs)


def count(valid, runs):
    """Return the number of valid runs as a note behind the text of a cell: empty if all runs are valid."""
    if not valid:
        return "no valid run"
    return "" if valid == runs else f" ({valid} of {runs} runs valid)"
