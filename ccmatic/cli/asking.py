"""Questions: the options that describe them, and the only place that reads these options.

The options --on and --expect describe a question in the question language. Older options describe its parts, such as
--model, --buffer and --property.
"""

from contextlib import contextmanager, nullcontext
from dataclasses import replace

import click

from ccmatic.base import InputError, shown
from ccmatic.cli import options

model = click.option(
    "--model",
    shell_complete=options.names_of("models"),
    help="A name in models/, such as ccac or ccac2021:flows=2, or a file or folder that defines a MODEL.",
)
buffer = click.option(
    "--buffer",
    help="The buffer: infinite, any, or a size such as '1 bdp' or '>=1 bdp'. A number without a unit is in C·R_m.",
)
horizon = click.option(
    "--horizon",
    help="The number T of points of a trace, which spans T - 1 steps. A step is R_m, or R_m + D for senders with "
    "beliefs on a path.",
)
jitter = click.option(
    "--jitter", help="The jitter D, such as '1 rtt'. A number without a unit is in steps.  [default: the model's]"
)
delay = click.option(
    "--delay",
    type=options.Names("ccmatic.questions.query", "DELAYS"),
    help="The law of measured delay. 'published' is the published model's law, which excludes some real executions. "
    "'executions' includes every real execution.",
)
period = click.option(
    "--period",
    type=click.IntRange(min=1),
    help="Only consider executions that repeat after this many steps, and so can last for ever.",
)


def question(command, expects="repeatable"):
    """Add the options of the question language: `on`, `expect` (a tuple) and `start`.

    `expects` says how often the command accepts `--expect`.
    """
    command = click.option(
        "--from",
        "start",
        metavar="START",
        help="Where executions begin: any, start, informed, converged, or conditions such as 'window <= 2 bdp'.  "
        "[default: converged for controllers with state, any for others; of `prove`: informed]",
    )(command)
    command = click.option(
        "--expect",
        multiple=True,
        metavar="EXPECTATION",
        help=f"An expectation, such as 'utilisation >= 80% over every 10 rtt'; {expects}.",
    )(command)
    return click.option(
        "--on",
        metavar="NETWORK",
        help="A network, such as 'ccac, buffer 1 bdp, jitter 1 rtt' or '24 mbit, rtt 40 ms, buffer 1 bdp'.",
    )(command)


def expectations(on, expect, most=None):
    """Return the expectations of `--expect`, at most `most`, which need `--on`."""
    if not on or not expect:
        lacks, has = ("--on", "--expect") if not on else ("--expect", "--on")
        example = "--on 'ccac, buffer 1 bdp'" if not on else "--expect 'utilisation >= 80%'"
        raise InputError(f"{has} needs {lacks}; expected such as {example}")
    if most is not None and len(expect) > most:
        raise InputError(f"--expect is given {len(expect)} times; expected it once for this command")
    return expect


def require_network(missing, others):
    """Raise InputError if options that describe a network are missing. `others` are the given options."""
    if not others:
        example = "--on 'ccac, buffer 1 bdp' --expect 'queue <= 4 bdp'"
        raise InputError(f"--on and --expect missing; expected such as {example}")
    if missing:
        raise InputError(f"{', '.join(missing)} missing; expected each, or --on and --expect")


def whole(text, name):
    """Return the integer in a text; None for None. An InputError names the option."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        raise InputError(f"the {name} is '{shown(text)}'; expected a whole number of steps, such as 11") from None


def questions(deciders, on, expect, others, horizon=None, **about):
    """Return a pair (decider, Question) for each expectation and decider, which is a controller or a list of them.

    `others` are options that describe a question by parts. Raise InputError if any of them has a value.
    """
    from ccmatic.questions import ask

    expect = expectations(on, expect)
    options.refuse(others, "--on and --expect alone")
    about["horizon"] = whole(horizon, "horizon")
    return [(each, ask(each, on, expectation, **about)) for expectation in expect for each in deciders]


def query(file, network, thresholds):
    """Return the Query of `--query`, or of the options that describe a network and a property by parts."""
    from ccmatic.questions.query import load, make

    given = {name: value for name, value in network.items() if value is not None}
    if file:
        if given or thresholds:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in (*given, *{"threshold" for _ in thresholds}))
            raise InputError(f"--query and {flags} exclude each other; expected one or the other")
        return load(file)
    missing = [f"--{name}" for name in ("model", "buffer", "horizon") if name not in given]
    require_network(missing, [*given, *thresholds])
    named = {name: given.pop(name) for name in ("utilisation", "constrain_loss") if name in given}
    for threshold in thresholds:
        name, sign, value = threshold.partition("=")
        if not sign or name in named:
            problem = f"the threshold {name} is given twice" if sign else f"the threshold is '{threshold}'"
            raise InputError(f"{problem}; expected NAME=VALUE once for each, such as inflight_rates=3")
        named[name] = value
    return make(**given, thresholds=named)


@contextmanager
def edge(model, buffer, horizon, jitter, delay, period, start, given):
    """Give the network and the question of options that describe them by parts, as arguments of `cm.worst`.

    If no horizon is given, the period decides it; errors in the context then say so.
    """
    from ccmatic.questions import least_of_period, usual_horizon
    from ccmatic.questions.query import LONGEST, Network

    missing = [f"--{name}" for name, each in (("model", model), ("buffer", buffer)) if each is None]
    missing += ["--horizon or --period"] if horizon is None and not period else []
    require_network(missing, [each for each in (model, buffer, horizon, period) if each is not None])
    network = Network(model, buffer, horizon or LONGEST, jitter=jitter, delay=delay or "executions")
    if horizon is None:
        network = replace(network, horizon=least_of_period(network, period))
    with usual_horizon(network, period) if horizon is None else nullcontext():
        yield {"network": network, "period": period, "start": start or "any", "given": given}
