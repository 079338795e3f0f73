"""Explanations of traces for people: sentences with numbers, and a page."""

from ccmatic.explanation.flows import FlowAccount, accounts, contrast
from ccmatic.explanation.page import View, page, script, style, view
from ccmatic.explanation.sentences import Explanation, explain, legend, observed

__all__ = [
    "Explanation",
    "FlowAccount",
    "View",
    "accounts",
    "contrast",
    "explain",
    "legend",
    "observed",
    "page",
    "script",
    "style",
    "view",
]
