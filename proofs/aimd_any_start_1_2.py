"""Bounds that AIMD keeps for ever from any state, with a buffer of C·R_m/2."""

from dataclasses import replace

from ccmatic.proofs.aimd_any_start import on

PROOF = replace(
    on("1/2"),
    formerly=("056889cd586b150cb4dc704f58cf03b112b42484f79de30f0a90e4a80028a535",),
)
