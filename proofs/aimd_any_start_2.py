"""Bounds that AIMD keeps for ever from any state, with a buffer of 2·C·R_m."""

from dataclasses import replace

from ccmatic.proofs.aimd_any_start import on

PROOF = replace(
    on("2"),
    formerly=("f974b96198385061308fa4679afea51c91fe10685246ce54c497a7442768aa0d",),
)
