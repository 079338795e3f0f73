"""The ideal link: a link of constant rate without jitter."""

from ccmatic.models.ideal.laws import MODEL, Ideal

__all__ = ["MODEL", "Ideal"]
