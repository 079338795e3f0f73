"""The command line: parses, calls one function, prints. A command imports what it needs itself: solvers and numpy take
most of a second, which `--help` has no use for."""

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import click

from ccmatic import __version__, base
from ccmatic.base import Disagreement, InputError, OutOfTime, write_text
from ccmatic.cli import options

#: The file of each command, and what it is called there.
COMMANDS = {
    "attack": ("attack", "attack"),
    "check": ("check", "check"),
    "check-cover": ("check_cover", "check_cover"),
    "check-widening": ("check_widening", "check_widening"),
    "emulate": ("emulate", "emulate"),
    "estimate": ("estimate", "estimate"),
    "evaluate": ("evaluate", "evaluate"),
    "export": ("export", "export"),
    "fit": ("fit", "fit"),
    "front": ("front", "front"),
    "list": ("listing", "list_command"),
    "prove": ("prove", "prove"),
    "replay": ("replay", "replay_command"),
    "runs": ("runs", "runs"),
    "synth": ("synth", "synth"),
    "trace": ("trace", "trace_group"),
    "tradeoff": ("tradeoff", "tradeoff"),
    "train": ("train", "train"),
    "verify": ("verify", "verify"),
    "widen": ("widen", "widen"),
    "worst": ("worst", "worst"),
}


class _Commands(Mapping):
    """The commands by name, each imported when it is looked up."""

    def __getitem__(self, name):
        file, attribute = COMMANDS[name]
        return getattr(import_module(f"ccmatic.cli.{file}"), attribute)

    def __iter__(self):
        return iter(COMMANDS)

    def __len__(self):
        return len(COMMANDS)


@click.group(commands=_Commands(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli():
    """Formal synthesis and verification of congestion control algorithms."""


def main():
    """Run a command; every error is one message, every outcome one of the documented exit codes."""
    try:
        with base.blamed():
            code = cli.main(prog_name="ccmatic", standalone_mode=False)
        sys.stdout.flush()
    except InputError as error:
        code = options.complain(error)
    except click.ClickException as error:
        code = options.complain(error.format_message())
    except Disagreement as error:
        file = Path("disagreement.smt2")
        write_text(file, f"(set-logic QF_LRA)\n{error.script}")
        code = options.complain(f"{error}; the question is in {file}", options.UNKNOWN)
    except OutOfTime as error:
        code = options.complain(error, options.UNKNOWN)
    except (KeyboardInterrupt, click.Abort):
        code = options.complain("interrupted", options.INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = options.GOOD
    except Exception as error:
        if os.environ.get("CCMATIC_TRACEBACK"):
            raise
        message = f"{type(error).__name__}: {error}"
        if base.blamed_files():
            code = options.complain(
                f"{', '.join(base.blamed_files())}: what is defined there cannot be used: {message}"
            )
        else:
            whose = "a fault of ccmatic itself, please report it"
            code = options.complain(f"{whose}: {message} (CCMATIC_TRACEBACK=1 shows where)", options.UNKNOWN)
    sys.exit(code)
