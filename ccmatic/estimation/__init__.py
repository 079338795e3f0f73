"""What a sender can know of its path (docs/estimates.md)."""

from ccmatic.estimation.estimate import Estimate, estimates, network_of
from ccmatic.estimation.exact import ANY, Possible, Range, possible
from ccmatic.estimation.picture import draw
from ccmatic.estimation.report import line, text

__all__ = ["ANY", "Estimate", "Possible", "Range", "draw", "estimates", "line", "network_of", "possible", "text"]
