"""`ccmatic prove`: prove the guarantees of a controller for all time."""

from functools import partial
from pathlib import Path

import click

from ccmatic.base import Disagreement, InputError, OutOfTime, SolverEnded
from ccmatic.cli import options
from ccmatic.cli.command import command


@command(
    example="""
ccmatic prove cc_qdel --on 'ccac, buffer infinite, jitter 1 rtt' \\
    --expect 'utilisation >= 1/2'
"""
)
@options.controllers
@click.option(
    "--proof",
    shell_complete=options.names_of("proofs"),
    help="A name in proofs/, or a file that defines a PROOF.  [default: each shape that fits the controller]",
)
@click.option(
    "--horizon",
    type=click.IntRange(min=3, max=1000),
    help="The number T of points of a window, which spans T - 1 steps.  [default: the proof's]",
)
@click.option(
    "--out", default="results/proofs", show_default=True, help="The output folder; the same command resumes there."
)
@partial(options.question, expects="only one per command")
@click.option("--certify", is_flag=True, help="Write a certificate for each lemma, for `ccmatic check`.")
@options.jobs
@options.cluster
@options.solver
@options.as_json
def prove(controllers, proof, horizon, on, expect, start, jobs, cluster, as_json, **how):
    """Prove what controllers guarantee for all time.

    With --on and --expect, the command searches for an inductive invariant that proves the expectation, and for an
    execution that refutes it. An expectation such as 'converged within 8 rtt' needs no invariant. With --on alone, it
    finds the tightest bounds that invariants prove, and draws them. The --timeout of a search for an invariant is in
    CPU seconds.

    Without --on and --expect, the command decides the lemmas of a proof. The lemmas contain constants, and the command
    finds the best value of each constant with which the lemmas hold.
    """
    from ccmatic.base.workers import Team

    names = [Path(each).stem for each in controllers]
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        message = f"two controllers have the name {twice}, so their proofs would have the same file name"
        raise InputError(f"{message}; expected different names, or a command and an --out for each")
    how |= {"proof": proof, "horizon": horizon, "jobs": max(jobs, 2)}
    if on or expect:
        (expectation,) = options.expectations(on, expect, most=1) if expect else (None,)
        options.refuse({"proof": proof, "horizon": horizon}, "--on and --expect alone")
        how |= {"on": on, "expectation": expectation, "start": start}
    else:
        options.refuse({"from": start}, "--on and --expect as well")
    about = [
        (name if len(names) > 1 else None, each, as_json, how) for name, each in zip(names, controllers, strict=True)
    ]
    if cluster is None and min(jobs, len(names)) == 1:
        return options.outcome({_prove(*each) for each in about})
    verdicts = set()
    with Team(min(jobs, len(names)), cluster) as team:
        results = team.each(_prove_there, about)
        for number, name in enumerate(names, 1):
            with options.Waiting(f"{name}, {number} of {len(names)}"):
                lines, verdict, error = next(results)
            for line in lines:
                click.echo(line)
            if error:
                raise error
            verdicts.add(verdict)
    return options.outcome(verdicts)


def _prove_there(*about):
    """Return the lines that `_prove` prints, the verdict, and the error that ended the proof (or None)."""
    lines = []
    try:
        return lines, _prove(*about, write=lines.append), None
    except InputError as error:
        return lines, None, InputError(error.message, error.file, error.line)
    except (Disagreement, OutOfTime, SolverEnded) as error:
        return lines, None, error


def _prove(name, controller, as_json, how, write=click.echo):
    """Print the proof of one controller, and return the verdict.

    Args:
        name: The name of the controller, which the lines mention; None if there is only one controller.
        controller: The controller, as the user named it.
        as_json: Whether the lines are JSON.
        how: The other options.
        write: A function that is called with each line.
    """
    from ccmatic import proving
    from ccmatic.cli import proof_reports as report

    settings = {"certify": how["certify"], "solver": how["solver"]}
    proof, horizon, out = how["proof"], how["horizon"], how["out"]
    if "on" in how:
        with report.Progress(as_json, name, write) as say:
            if how["expectation"] is None:
                return _bounds(controller, how, say)
            return _expected(controller, how, settings, say)
    with report.Progress(as_json, name, write) as say:
        if proof is None:
            return _by_shapes(proving.prove_by_shapes(controller, out, horizon=horizon, listener=say, **settings), say)
        proved = proving.prove(controller, proof, out, horizon=horizon, listener=say, **settings)
    say.end(proved)
    return proved.verdict


def _bounds(controller, how, say):
    """Report the tightest bounds that invariants prove, and return `holds` if there is one, else `unknown`."""
    from ccmatic import proving

    budget, found = _budget(how), []
    for bound in proving.find_bounds(
        controller, how["on"], start=how["start"], out=how["out"], jobs=how["jobs"], tells=say.tries, **budget
    ):
        found.append(bound)
        say.bound(bound, bound.save(Path(how["out"])))
    name, figure = Path(controller).stem, None
    if any(bound.proved for bound in found):
        figure = Path(how["out"]) / f"{name}-bounds.svg"
        proving.draw_bounds(name, found, figure)
    say.bounds(name, found, figure)
    return "holds" if figure else "unknown"


def _budget(how):
    """Return the budget of a search as an argument, if the user states one."""
    return {} if how["solver"].timeout is None else {"seconds": how["solver"].timeout}


def _expected(controller, how, settings, say):
    """Return the verdict on an expectation: `holds`, `violated` or `unknown`.

    An invariant or an execution decides most expectations. Shapes decide further ones, if the user names no start.
    """
    decided, refused = None, None
    try:
        decided = _by_invariant(controller, how, say)
    except InputError as error:
        refused = error
    if decided and decided.verdict != "unknown":
        return {"proved": "holds", "refuted": "violated"}[decided.verdict]
    if how["start"] is not None or Path(controller).suffix == ".onnx":
        if refused:
            raise refused
        return "unknown"
    try:
        return _by_expected_shapes(controller, how, settings, say, refused)
    except InputError:
        if refused:
            raise refused from None
        return "unknown"


def _by_invariant(controller, how, say):
    """Search for an invariant, or for an execution that refutes the expectation. Save and report the outcome."""
    from ccmatic import proving
    from ccmatic.proving import enclosures

    about = {"start": how["start"], "jobs": how["jobs"], **_budget(how)}
    decided = proving.prove_by_invariant(controller, how["on"], how["expectation"], **about)
    file = decided.save(how["out"])
    is_network = Path(controller).suffix == ".onnx" and decided.verdict == "proved" and decided.proved
    carrier = enclosures.carry(decided.proved, Path(how["out"]), decided.name) if is_network else None
    say.decided(decided, file, carrier)
    return decided


def _by_expected_shapes(controller, how, settings, say, refused):
    """Return whether a proof by a shape implies the expectation: `holds` or `unknown`.

    `refused` is the InputError that ended the search for an invariant, or None.
    """
    from ccmatic import proving
    from ccmatic.questions import ask

    question = ask(controller, how["on"], how["expectation"], start="any")
    for attempt, implied in proving.prove_expected(question, how["out"], listener=say, **settings):
        say.attempted(attempt)
        if implied:
            say.expected(question, attempt.shape, refused)
            return "holds"
    say.expected(question, None, refused)
    return "unknown"


def _by_shapes(attempts, say):
    """Return the verdict after all shapes have been tried. One proof suffices."""
    verdicts = set()
    for attempt in attempts:
        say.attempted(attempt)
        verdicts.add(attempt.verdict)
    return next(verdict for verdict in ("holds", "violated", "unknown") if verdict in verdicts)
