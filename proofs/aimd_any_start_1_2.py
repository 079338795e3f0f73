"""What AIMD keeps for ever, from whatever step of its life on, with a buffer of half a C·R_m."""

from ccmatic.proofs.aimd_any_start import on

PROOF = on("1/2")
