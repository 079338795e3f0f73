"""The command line. It parses the arguments, calls one function, and prints the result.

Each command imports its own modules when it runs. Solvers and numpy take most of a second, and `--help` needs neither.
"""

import errno
import os
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import click

from ccmatic import __version__, base
from ccmatic.base import Disagreement, InputError, OutOfTime, SolverEnded, write_text
from ccmatic.cli import options
from ccmatic.cli.command import command

#: The commands in the groups of the help, each with its file and with its name in that file.
GROUPS = {
    "Ask": {
        "verify": ("answers", "verify"),
        "worst": ("answers", "worst"),
        "starve": ("answers", "starve"),
        "replay": ("traces", "replay_command"),
        "workbench": ("traces", "workbench"),
        "estimate": ("traces", "estimate"),
        "trace": ("traces", "trace_group"),
    },
    "Prove": {
        "prove": ("proofs", "prove"),
        "check": ("proofs", "check"),
        "front": ("proofs", "front"),
        "tradeoff": ("proofs", "tradeoff"),
    },
    "Synthesise": {
        "synth": ("synthesis", "synth"),
        "runs": ("synthesis", "runs"),
        "check-cover": ("synthesis", "check_cover"),
        "widen": ("synthesis", "widen"),
        "check-widening": ("synthesis", "check_widening"),
    },
    "Deploy": {
        "export": ("deployment", "export"),
        "emulate": ("deployment", "emulate"),
    },
    "Measure": {
        "evaluate": ("deployment", "evaluate"),
        "fit": ("deployment", "fit"),
    },
    "Judge": {
        "judge": ("judge", "judge_group"),
    },
    "Learn": {
        "train": ("learning", "train"),
        "bench": ("learning", "bench"),
        "act": ("learning", "act"),
        "attack": ("learning", "attack"),
    },
    "Other": {
        "list": ("commands", "list_command"),
    },
}
COMMANDS = {name: place for group in GROUPS.values() for name, place in group.items()}


class _Commands(Mapping):
    """The commands by name. A command is imported when it is looked up."""

    def __getitem__(self, name):
        file, attribute = COMMANDS[name]
        return getattr(import_module(f"ccmatic.cli.{file}"), attribute)

    def __iter__(self):
        return iter(COMMANDS)

    def __len__(self):
        return len(COMMANDS)


class _Program(click.Group):
    """The whole program. Its help shows the commands in groups."""

    def list_commands(self, context):
        return list(self.commands)

    def format_commands(self, context, formatter):
        width = max(map(len, COMMANDS))
        for title, group in GROUPS.items():
            with formatter.section(title):
                rows = [(f"{name:{width}}", summary(self.commands[name])) for name in group]
                formatter.write_dl(rows)


def summary(command):
    return command.get_short_help_str(limit=1000)


@click.group(cls=_Program, commands=_Commands(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli():
    """Formal synthesis and verification of congestion control algorithms."""


@command("list", example="ccmatic list models controllers")
@click.argument("kinds", nargs=-1, type=options.Names("ccmatic.base.catalogue", "KINDS"), metavar="[KIND]…")
@options.as_json
def list_command(kinds, as_json):
    """List the names that commands accept.

    Each name has a sentence about it. The kinds are models, queries, templates, properties, proofs, controllers and
    others; KINDs select some of them.
    """
    from ccmatic import base, records

    entries = base.list_names(*kinds)
    lines = (
        (records.line(records.EntryLine(entry.kind, entry.name, entry.says)) for entry in entries)
        if as_json
        else _listed(entries)
    )
    for line in lines:
        click.echo(line)
    return options.GOOD


def _listed(entries):
    kind = None
    for entry in entries:
        if entry.kind != kind:
            kind = entry.kind
            yield f"{kind}:"
        yield f"  {entry.name:<22} {entry.says}"


def main():
    """Run a command. Each error prints one message, and each outcome has a documented exit code."""
    try:
        code = _run()
    except BrokenPipeError:  # The reader, such as `head`, has closed the pipe.
        _drop(sys.stdout)
        _drop(sys.stderr)
        code = options.UNREAD
    sys.exit(code)


def _run():
    """Run a command and return its exit code. May raise BrokenPipeError."""
    output = sys.stdout
    try:
        with base.blamed():
            code = cli.main(prog_name="ccmatic", standalone_mode=False)
        sys.stdout.flush()
        return code
    except InputError as error:
        return options.complain(error)
    except click.ClickException as error:
        return options.complain(re.sub(r"\s*\n\s*", " ", error.format_message()))
    except Disagreement as error:
        file = Path("disagreement.smt2")
        write_text(file, f"(set-logic QF_LRA)\n{error.script}")
        return options.complain(f"{error}; the question was written to {file}", options.UNKNOWN)
    except (OutOfTime, SolverEnded) as error:
        return options.complain(error, options.UNKNOWN)
    except (KeyboardInterrupt, click.Abort):
        return options.complain("interrupted", options.INTERRUPTED)
    except BrokenPipeError:
        raise
    except SystemExit:
        # If the pipe is closed, click replaces the stream and exits with 1, which would mean a violation.
        if sys.stdout is not output:
            raise BrokenPipeError from None
        return options.UNKNOWN
    except Exception as error:
        if _is_interrupt(error):
            return options.complain("interrupted", options.INTERRUPTED)
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:
            _drop(sys.stdout)
            return options.complain(f"cannot write: {error.strerror}", options.UNKNOWN)
        if os.environ.get("CCMATIC_TRACEBACK"):
            raise
        message = f"{type(error).__name__}: {error}"
        if base.blamed_files():
            return options.complain(
                f"{', '.join(base.blamed_files())}: what is defined there cannot be used: {message}"
            )
        whose = "a fault of ccmatic itself, please report it"
        return options.complain(f"{whose}: {message} (CCMATIC_TRACEBACK=1 shows where)", options.UNKNOWN)


def _drop(stream):
    """Write the rest of a stream nowhere. Python flushes streams once more when it exits, which would fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _is_interrupt(error):
    """Return whether an error stands for a KeyboardInterrupt that occurred while ctypes converted an argument."""
    return type(error).__name__ == "ArgumentError" and "KeyboardInterrupt" in str(error)
