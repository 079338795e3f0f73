"""Explanations of traces for people: sentences with numbers, and a page."""

from typing import TYPE_CHECKING

from ccmatic.answers.explanation.flows import FlowAccount, accounts, contrast
from ccmatic.answers.explanation.sentences import Explanation, explain, legend
from ccmatic.base import late

if TYPE_CHECKING:
    from ccmatic.answers.explanation.stepping import View, script, style, trace_page, view

__all__ = [
    "Explanation",
    "FlowAccount",
    "View",
    "accounts",
    "contrast",
    "explain",
    "legend",
    "script",
    "style",
    "trace_page",
    "view",
]

#: Commands that write no page do not import the page.
__getattr__ = late(__name__)
