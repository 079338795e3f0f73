"""What AIMD keeps for ever, from whatever step of its life on, with a buffer of 2·C·R_m."""

from ccmatic.proofs.aimd_any_start import on

PROOF = on("2")
