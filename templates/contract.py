"""Contracts of five levels: the rate falls by a factor for each band of delay.

The holes are the highest level in packets per R_m, the factor between two levels, and the steps of a band. A sender's
delay is the age, beyond R_m, of the oldest byte that is not acknowledged.
"""

from ccmatic.contracts import contract_sketch

TEMPLATE = contract_sketch(
    levels=5, top=(8, 16, 24), factor=("1/3", "2/5", "1/2", "2/3"), band=(1, 2, 3), links=("5/2", 30)
)
