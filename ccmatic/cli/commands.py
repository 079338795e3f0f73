"""The command line: parses, calls one function, prints. A command imports what it needs itself: solvers and numpy take
most of a second, which `--help` has no use for."""

import os
import sys
from pathlib import Path

import click

from ccmatic import __version__, base
from ccmatic.base import Disagreement, InputError, OutOfTime, write_text
from ccmatic.cli import options
from ccmatic.cli.attack import attack
from ccmatic.cli.check import check
from ccmatic.cli.check_cover import check_cover
from ccmatic.cli.check_widening import check_widening
from ccmatic.cli.emulate import emulate
from ccmatic.cli.estimate import estimate
from ccmatic.cli.evaluate import evaluate
from ccmatic.cli.export import export
from ccmatic.cli.fit import fit
from ccmatic.cli.front import front
from ccmatic.cli.listing import list_command
from ccmatic.cli.prove import prove
from ccmatic.cli.replay import replay_command
from ccmatic.cli.runs import runs
from ccmatic.cli.synth import synth
from ccmatic.cli.trace import trace_group
from ccmatic.cli.tradeoff import tradeoff
from ccmatic.cli.train import train
from ccmatic.cli.verify import verify
from ccmatic.cli.widen import widen
from ccmatic.cli.worst import worst


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli():
    """Formal synthesis and verification of congestion control algorithms."""


COMMANDS = [verify, worst, synth, replay_command, list_command, trace_group, runs, check_cover, prove, check, export]
for command in (*COMMANDS, widen, check_widening, estimate, front, fit, emulate, evaluate, tradeoff, train, attack):
    cli.add_command(command)


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
        found = f"{type(error).__name__}: {error}"
        if base.blamed_files():
            code = options.complain(f"{', '.join(base.blamed_files())}: what is defined there cannot be used: {found}")
        else:
            whose = "a fault of ccmatic itself, please report it"
            code = options.complain(f"{whose}: {found} (CCMATIC_TRACEBACK=1 shows where)", options.UNKNOWN)
    sys.exit(code)
