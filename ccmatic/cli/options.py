"""The parts that commands share: exit codes, options, and choices that are imported when a command needs them."""

import sys
from dataclasses import replace
from functools import wraps
from importlib import import_module
from math import isnan
from threading import Event, Thread
from time import monotonic

import click

from ccmatic import base

GOOD, BROKEN, BAD_INPUT, UNKNOWN, INTERRUPTED = 0, 1, 2, 3, 130

#: The exit code if the reader of the output closes the pipe. Programs that the signal SIGPIPE ends have this code.
UNREAD = 141


class Names(click.Choice):
    """A choice among the names of a module's table or function, which is imported when the choices are needed."""

    def __init__(self, module, attribute, *others):
        self._declared, self._others, self.case_sensitive = (module, attribute), others, True

    @property
    def choices(self):
        module, attribute = self._declared
        declared = getattr(import_module(module), attribute)
        return (*(declared() if callable(declared) else declared), *self._others)

    def convert(self, value, param, ctx):
        if value not in self.choices:
            self.fail(f"there is no '{base.shown(value)}'; {base.suggest(value, self.choices)}", param, ctx)
        return value


class Share(click.FloatRange):
    """A share from 0 to 1, which may not be nan."""

    def __init__(self):
        super().__init__(0, 1)

    def convert(self, value, param, ctx):
        share = super().convert(value, param, ctx)
        if isnan(share):
            self.fail(f"{value} is no share.", param, ctx)
        return share


class Seconds(click.FloatRange):
    """A number of seconds, which may not be nan."""

    def convert(self, value, param, ctx):
        try:
            seconds = float(value)
        except ValueError:
            self.fail(f"{value!r} is no number; expected seconds, such as 10", param, ctx)
        seconds = super().convert(seconds, param, ctx)
        if isnan(seconds):
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


def names_of(*kinds):
    """Return a `shell_complete` function that completes paths and the names of definitions of some kinds."""

    def complete(context, parameter, incomplete):
        from click.shell_completion import CompletionItem

        names = [CompletionItem(entry.name, help=entry.says) for entry in base.list_names(*kinds)]
        return [item for item in names if item.value.startswith(incomplete)] + [CompletionItem(incomplete, type="file")]

    return complete


#: The argument of commands that take several controllers.
controllers = click.argument(
    "controllers",
    nargs=-1,
    required=True,
    metavar="CONTROLLER.py…",
    shell_complete=names_of("controllers"),
)


def refuse(others, expected):
    """Raise InputError if any of the options, given as values by name, has a value. The message names these options."""
    given = [f"--{name.replace('_', '-')}" for name, value in others.items() if value]
    if given:
        raise base.InputError(
            f"{', '.join(given)} {'do' if len(given) > 1 else 'does'} not fit here; expected {expected}"
        )


jobs = click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="The number of processes.")
cluster = click.option("--cluster", help="Do the work on the Dask cluster whose scheduler is at this address.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
verbose = click.option(
    "--verbose",
    is_flag=True,
    help="Print each trace as a table, explain its columns, and print all sentences about it.  [default: at most a "
    "screen]",
)
allow_code = click.option(
    "--allow-code",
    is_flag=True,
    help="Run the code that the input names as model, property, template, proof or subject, even if ccmatic does not "
    "ship it.",
)


def fresh(command):
    """Add the option `--fresh`. Without it, the SolverOptions that the command receives have the user's Memory."""

    @click.option("--fresh", is_flag=True, help="Decide again, even if the memory of this machine has the answer.")
    @wraps(command)
    def with_memory(*arguments, solver, fresh, **others):
        from ccmatic.base.memory import Memory

        known = None if fresh else Memory.of_user()
        return command(*arguments, solver=replace(solver, memory=known), **others)

    return with_memory


def solver(command):
    """Add the options of the solvers. The command receives them as one SolverOptions `solver`."""
    return _solver(command, None, "The seconds that each question may take, from its encoding to its answer.")


def solver_within(command):
    """Add the options of the solvers to a command whose `--timeout` limits all work on a controller."""
    return _solver(command, 60, "The seconds that all periods of a controller may take together.")


def _solver(command, seconds, help):
    @click.option(
        "--solver",
        type=Names("ccmatic.logic.solving", "NAMES", "all"),
        default="z3",
        show_default=True,
        help="The solver. With `all`, each solver decides, and the command stops if two disagree.",
    )
    @click.option("--timeout", type=Seconds(min=0.001), default=seconds, show_default=bool(seconds), help=help)
    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The seed of the solvers.")
    @wraps(command)
    def with_options(*arguments, solver, timeout, seed, **others):
        from ccmatic.logic.solving import NAMES, SolverOptions

        solvers = NAMES if solver == "all" else (solver,)
        return command(*arguments, solver=SolverOptions(solvers, timeout, seed), **others)

    return with_options


def outcome(verdicts):
    """Return the exit code for verdicts: 1 if any verdict is `violated`, else 3 if any is `unknown`, else 0."""
    return BROKEN if "violated" in verdicts else UNKNOWN if "unknown" in verdicts else GOOD


def expected(judged):
    """Return the exit code for ExpectationRecords: 1 if any is not met, else 3 if any is not applicable, else 0."""
    verdicts = {each.verdict for each in judged}
    return BROKEN if "not met" in verdicts else UNKNOWN if "not applicable" in verdicts else GOOD


def complain(message, code=BAD_INPUT):
    click.echo(f"ccmatic: {message}", err=True)
    return code


#: The characters by which a terminal overwrites the current line.
CLEAR = "\r\033[K"


class Waiting:
    """Shows on standard error, if it is a terminal, how long `what` has run; from the first second on.

    Code in the context may change `what`.
    """

    def __init__(self, what):
        self.what, self._over = what, Event()
        self._teller = Thread(target=self._tell, daemon=True)

    def __enter__(self):
        if sys.stderr.isatty():
            self._teller.start()
        return self

    def __exit__(self, *error):
        self._over.set()
        if self._teller.ident:
            self._teller.join()

    def tell(self, line):
        click.echo(f"{CLEAR if sys.stderr.isatty() else ''}{line}", err=True)

    def _tell(self):
        begin, clear = monotonic(), ""
        while not self._over.wait(1):
            clear = CLEAR
            click.echo(f"{clear}{self.what}: {monotonic() - begin:.0f} s", err=True, nl=False)
        click.echo(clear, err=True, nl=False)
