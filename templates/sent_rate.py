"""`if condition: rate else: rate` over C_Llambda and q_U, the beliefs of CBR-delay (Table 2, G6)."""

from ccmatic.contracts import Branch, linear_forms

SIGNS = (0, 1, -1)

RATE = linear_forms({"C_Llambda": (0, "1/2", 1, 2, 3), "q_U / R_m": SIGNS, "MSS / R_m": SIGNS})

CONDITION = linear_forms({"q_U": (*SIGNS, 2, -2), "C_Llambda * R_m": (*SIGNS, 2, -2), "MSS": (*SIGNS, 2, -2)})

TEMPLATE = Branch(CONDITION, RATE, RATE)
