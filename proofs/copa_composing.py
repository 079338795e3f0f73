"""The lemmas of CCAC's copa_proofs.py on the composing network, for which lemmas 1 and 2 were stated."""

from dataclasses import replace

from ccmatic.proofs import copa

PROOF = replace(
    copa.PROOF,
    model="ccac2021",
    formerly=("e7c9c293b800f40c94c1252f4c0831ed0a377d8fc1c948d181bfd9560969344a",),
)
