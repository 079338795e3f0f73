"""CBR-delay: a link of constant rate, behind it jitter."""

from ccmatic.models.cbr_delay.laws import MODEL, CBRDelay

__all__ = ["MODEL", "CBRDelay"]
