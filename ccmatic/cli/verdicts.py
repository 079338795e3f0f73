"""Verdicts as people see them: with a symbol and a colour on a terminal, as plain words elsewhere."""

import os
import sys

import click

#: The symbol and the colour of each verdict.
STYLES = {"holds": ("✓", "green"), "violated": ("✗", "red"), "unknown": ("?", "yellow")}


def shown_verdict(word, verdict=None, width=0):
    """Return a verdict as text.

    Args:
        word: The word that is printed.
        verdict: What it means: `holds`, `violated` or `unknown`. None: the word itself.
        width: The word is padded to this width.
    """
    text = f"{word:<{width}}"
    if not _has_styles():
        return text
    symbol, colour = STYLES[verdict or word]
    return click.style(f"{symbol} {text}", fg=colour)


def _has_styles():
    """Whether standard output is a terminal for people who want colours, and can print the symbols."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty():
        return False
    return "utf" in (sys.stdout.encoding or "").lower()
