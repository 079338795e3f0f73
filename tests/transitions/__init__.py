"""Random and adversarial executions, beside the transition systems and the claims that invariants prove.

The executions come from the simulator of tests/completeness, which is independent of ccmatic's laws. Each of their
steps has to be a step of the transition system, and no execution may break a claim that is proved.
"""
