"""Bounds that AIMD keeps for ever from any state, on the network that is true of executions, with a buffer of C·R_m.

The bounds are those of proofs/aimd_any_start.py. Executions of a link that marks packets are executions of this
network, so the bounds hold there, too.
"""

from dataclasses import replace

from ccmatic.proofs import aimd_any_start

PROOF = replace(aimd_any_start.PROOF, model="ccac_windows", lemmas=aimd_any_start.PROOF.lemmas[:1], formerly=())
