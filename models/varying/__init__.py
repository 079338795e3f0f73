"""CCAC on a link whose rate varies."""

from ccmatic.models.varying.laws import MODEL, Varying

__all__ = ["MODEL", "Varying"]
