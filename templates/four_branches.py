"""Two levels of branches: `if c1: (if c2: rate else: rate) else: (if c3: rate else: rate)` (Table 2 of the paper)."""

from ccmatic.templates.two_branches import CONDITION, RATE

from ccmatic.contracts import Branch

TEMPLATE = Branch(CONDITION, Branch(CONDITION, RATE, RATE), Branch(CONDITION, RATE, RATE))
