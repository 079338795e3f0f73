"""CBR-delay: a link of constant rate with jitter behind it."""

from ccmatic.models.cbr_delay.laws import MODEL, CBRDelay

__all__ = ["MODEL", "CBRDelay"]
