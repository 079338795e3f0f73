"""One test that holds the worlds together: every definition gives equal outputs for equal inputs in every world.

A *definition* is a controller, a belief, an observation, a network or a link. A *world* is a form in which a definition
runs: its own Python on exact numbers, a formula, C, arrays, text, a packet simulator. A *cell* is one definition in one
world. `python -m tests.conformance` prints the table of cells.
"""
