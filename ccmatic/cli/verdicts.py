"""Verdicts as text: with a symbol and a colour on a terminal, as plain words elsewhere."""

import os
import sys

import click

#: The symbol and the colour of each verdict.
STYLES = {"holds": ("✓", "green"), "violated": ("✗", "red"), "unknown": ("?", "yellow")}


def shown_verdict(word, verdict=None, width=0):
    """Return a verdict as text.

    Args:
        word: The printed word.
        verdict: Its meaning: `holds`, `violated` or `unknown`. Default: the word itself.
        width: The width to which the word is padded.
    """
    text = f"{word:<{width}}"
    if not _has_styles():
        return text
    symbol, colour = STYLES[verdict or word]
    return click.style(f"{symbol} {text}", fg=colour)


def _has_styles():
    """Whether standard output is a terminal that can print the symbols, and its user has not disabled colours."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not sys.stdout.isatty():
        return False
    return "utf" in (sys.stdout.encoding or "").lower()
