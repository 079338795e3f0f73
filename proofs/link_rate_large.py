"""What controllers by bounds of the link rate guarantee with a buffer of at least 3C(R_m + D)."""

from ccmatic.proofs.link_rate import on

PROOF = on(">=6")
