"""What a trace shows, for people: in sentences with numbers, and as a page."""

from ccmatic.explanation.flows import FlowAccount, accounts, contrast
from ccmatic.explanation.page import page
from ccmatic.explanation.sentences import Explanation, explain, legend

__all__ = ["Explanation", "FlowAccount", "accounts", "contrast", "explain", "legend", "page"]
