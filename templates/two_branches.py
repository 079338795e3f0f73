"""`if condition: rate else: rate` over the bounds of the link rate and the queueing delay (Table 2)."""

from ccmatic.contracts import Branch, linear_forms

RATE = linear_forms({"C_L": (0, "1/2", 1, 2), "MSS / R_m": (0, 1, -1)})

CONDITION = linear_forms(
    {
        "C_L": (0, 1, -1, "3/2", "-3/2", 2, -2),
        "C_U": (0, 1, -1, "3/2", "-3/2", 2, -2),
        "MSS / R_m": (0, 1, -1, 2, -2),
    }
) + linear_forms({"qdel_L": (0, 1, -1), "R_m": (0, 1, -1, 2, -2)})

TEMPLATE = Branch(CONDITION, RATE, RATE)
