"""The parts of random controllers: their text, and the numbers that it leaves open."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Written:
    """A random controller.

    Attributes:
        anywhere: Whether each step of its life may be the first of a window.
        places: The state variables that are byte positions, with the bytes that they count.
        tests: The purpose of the controller.
    """

    source: str
    anywhere: bool = True
    places: tuple = ()
    tests: str = "grammar"


#: What a controller tests that keeps delays, and compares none.
KEPT_DELAYS = "kept delays"

#: What stands for a number in the texts above: the numbers from which it is drawn.
NUMBERS = {
    "a": ("1", "2", "3", "3 / 2"),
    "b": ("1 / 2", "1", "3 / 2", "2", "1 / 4"),
    "c": ("1", "2", "3", "4"),
    "d": ("0", "1", "2"),
    "e": ("4", "6", "8", "10"),
    "f": ("0", "1", "2", "3", "5", "8", "12"),
    "g": ("2", "3"),
    "h": ("6", "12", "24", "40"),
    "i": ("1", "3", "5", "9"),
}


def filled(rng, text):
    """A number for each place that is left for one."""
    return re.sub(
        r"\{\{?(\w)\}?\}", lambda found: f"({rng.choice(NUMBERS[found[1]])})".replace("(1)", "1"), text
    ).lstrip()
