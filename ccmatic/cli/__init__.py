"""The command line of ccmatic."""

from ccmatic.cli.commands import main

__all__ = ["main"]
