"""The lemmas of CCAC's copa_proofs.py on the network that composes, of which lemmas 1 and 2 are."""

from dataclasses import replace

from ccmatic.proofs import copa

PROOF = replace(copa.PROOF, model="ccac2021")
