"""`if condition: rate elif condition: rate else: rate`, with the holes of two_branches (Table 2)."""

from ccmatic.template import Branch
from ccmatic.templates.two_branches import CONDITION, RATE

TEMPLATE = Branch(CONDITION, RATE, Branch(CONDITION, RATE, RATE))
