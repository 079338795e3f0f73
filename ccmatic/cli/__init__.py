"""The command line."""

from ccmatic.cli.commands import main

__all__ = ["main"]
