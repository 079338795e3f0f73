"""Numbers of 32 bits, as arrays have them, in Python's own arithmetic."""

import numpy as np


class Single:
    """A float32. Arithmetic with it always gives a float32."""

    def __init__(self, number):
        self.number = number.number if isinstance(number, Single) else np.float32(float(number))

    def __repr__(self):
        return f"Single({self.number})"

    def __float__(self):
        return float(self.number)

    def __add__(self, other):
        return Single(self.number + Single(other).number)

    def __sub__(self, other):
        return Single(self.number - Single(other).number)

    def __rsub__(self, other):
        return Single(other) - self

    def __mul__(self, other):
        return Single(self.number * Single(other).number)

    def __truediv__(self, other):
        return Single(self.number / Single(other).number)

    def __rtruediv__(self, other):
        return Single(other) / self

    def __lt__(self, other):
        return self.number < Single(other).number

    def __le__(self, other):
        return self.number <= Single(other).number

    def __gt__(self, other):
        return self.number > Single(other).number

    def __ge__(self, other):
        return self.number >= Single(other).number

    def __eq__(self, other):
        return self.number == Single(other).number

    __hash__ = None
    __radd__, __rmul__ = __add__, __mul__
