"""What controllers by bounds of the link rate guarantee with a buffer of any size.

Beliefs become true and converge, and the link is used. Only the buffer bounds the queue.
"""

from dataclasses import replace

from ccmatic.proofs.link_rate_used import on

PROOF = replace(
    on("any"),
    formerly=("db783607ead31eb4fbb8812e3bb7abdb5fbe41526aeb46d0a79163a633838cc6",),
)
