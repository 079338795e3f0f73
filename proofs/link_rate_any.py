"""What controllers by bounds of the link rate guarantee with a buffer of any size: beliefs come to be true and
converge, and the link is used. What waits is bounded by the buffer."""

from ccmatic.proofs.link_rate_used import on

PROOF = on("any")
