"""`if condition: rate elif condition: rate else: rate`, with the holes of two_branches (Table 2)."""

from ccmatic.templates.two_branches import CONDITION, RATE

from ccmatic.contracts import Branch

TEMPLATE = Branch(CONDITION, RATE, Branch(CONDITION, RATE, RATE))
