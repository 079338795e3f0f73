"""The template two_branches with three times as many coefficients for each term."""

from fractions import Fraction

from ccmatic.contracts import Branch, linear_forms


def steps(first, last, step):
    """Return the numbers first, first + step, …, last.

    Numbers near 0 come first, so that the search tries simple forms early.
    """
    count = (last - first) / Fraction(step)
    return sorted((first + Fraction(step) * i for i in range(int(count) + 1)), key=abs)


RATE = linear_forms(
    {
        "C_L": steps(0, 0, 1) + steps(Fraction(1, 4), Fraction(11, 4), "1/4"),
        "MSS / R_m": steps(-4, 4, 1),
    }
)

CONDITION = linear_forms(
    {"C_L": steps(-5, 5, "1/2"), "C_U": steps(-5, 5, "1/2"), "MSS / R_m": steps(-7, 7, 1)}
) + linear_forms({"qdel_L": steps(-4, 4, 1), "R_m": steps(-7, 7, 1)})

TEMPLATE = Branch(CONDITION, RATE, RATE)
