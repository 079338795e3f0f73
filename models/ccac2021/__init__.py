"""The network of CCAC's published tool, and its variants."""

from ccmatic.models.ccac2021.laws import CCAC2021, MODEL

__all__ = ["CCAC2021", "MODEL"]
