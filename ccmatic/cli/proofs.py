"""`ccmatic prove`, `check`, `front` and `tradeoff`: guarantees for all time."""

from functools import partial
from pathlib import Path

import click

from ccmatic.base import Disagreement, InputError, OutOfTime, SolverEnded
from ccmatic.cli import asking, options
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
@partial(asking.question, expects="only one per command")
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
        (expectation,) = asking.expectations(on, expect, most=1) if expect else (None,)
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
    """Print the proof of one controller by `write`, and return the verdict.

    Lines mention its name, unless it is alone.
    """
    from ccmatic import proving
    from ccmatic.proving import reports as report

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


@command(example="ccmatic check results/proofs/cc_qdel_T10.json")
@click.argument("proofs", metavar="PROOF.json…", nargs=-1, required=True)
@options.solver
@options.allow_code
@options.as_json
def check(proofs, solver, allow_code, as_json):
    """Check all of a saved proof again.

    The check covers states, measures, each lemma and each edge. If a lemma has a certificate, the certificate decides.
    The proof may also be an ONNX file that names its proofs, as `train --prove` writes it.

    Several proofs about first steps, such as `prove --expect 'converged within 8 rtt'` writes them, are joined to one
    claim. Each has to begin where the one before it ends. The last one may be an invariant, such as `prove --expect
    'queue <= 7 bdp'` writes it: its claim then holds for ever from some step on.
    """
    from ccmatic import proving
    from ccmatic.proving import reports as report

    checked = proving.check(*proofs, allow_code=allow_code, solver=solver)
    for finding in checked:
        click.echo(report.finding(finding, as_json))
    click.echo(report.verdict(" ".join(proofs), checked.verdict, as_json))
    return {"accepted": options.GOOD, "rejected": options.BROKEN, "unknown": options.UNKNOWN}[checked.verdict]


@command(example="ccmatic front g1_t11 --jobs 2")
@click.argument("query", metavar="QUERY.toml", shell_complete=options.names_of("queries"))
@click.option(
    "--out", help="The folder for run, proofs and figure; the same command resumes there.  [default: QUERY-front]"
)
@click.option(
    "--step",
    help="Also prove the maximal envelopes around the controllers on the front. This number has the same meaning "
    "as in `ccmatic widen --step`.",
)
@options.jobs
@options.cluster
@options.solver
@options.as_json
def front(query, out, step, jobs, cluster, solver, as_json):
    """Find the controllers that no other one dominates.

    The command begins with a synthesis. It takes each controller that no counterexample breaks, proves guarantees for
    it, and compares the guarantees.
    """
    from ccmatic.proving import find_front
    from ccmatic.proving import reports as report
    from ccmatic.questions.query import load

    loaded_query = load(query)
    with options.Waiting(f"reading {query}") as waiting:

        def begun(what):
            waiting.what = what

        def decided(point, number, of):
            waiting.tell(f"{number} of {of}, {point.name}: {report.decided(point)}")

        where = {"step": step, "jobs": jobs, "cluster": cluster, "begun": begun, "decided": decided}
        result = find_front(loaded_query, out, **where, solver=solver)
    for point in result.points:
        click.echo(report.front_point(point, result.dominated.get(point.name), as_json))
    click.echo(report.front_end(result.points, result.dominated, result.figure, as_json))
    if not result.points:
        return options.BROKEN
    return options.GOOD if result.dominated else options.outcome({point.verdict for point in result.points})


@command(example="ccmatic tradeoff --allowance 'sqrt(C)' --final-rate 1000")
@click.option(
    "--allowance",
    "allowances",
    multiple=True,
    metavar="EXPR",
    help="The losses that are allowed, in packets: an expression in C; repeatable.  [default: 1, log(C), sqrt(C), C/10 "
    "and C]",
)
@click.option("--buffer-time", default="1", show_default=True, help="The buffer β_s, in R_m.")
@click.option(
    "--initial-rate", "start", default="10", show_default=True, help="The initial rate C_0, in packets per R_m."
)
@click.option("--final-rate", "end", default="1000", show_default=True, help="The link rate C, in packets per R_m.")
@click.option("--out", default="tradeoff", show_default=True, help="The folder for figures, tables, trace and proof.")
@options.as_json
def tradeoff(allowances, buffer_time, start, end, out, as_json):
    """Reproduce the trade-off of loss and convergence time.

    The command also checks the steps of its proof.
    """
    from ccmatic import records
    from ccmatic.tradeoffs import reproduce_tradeoff

    outcomes = set()
    for finding in reproduce_tradeoff(allowances, buffer_time=buffer_time, start=start, end=end, out=out):
        outcomes.add(finding.good)
        if as_json or finding.text:
            click.echo(records.line(finding.row) if as_json else finding.text)
    return options.BROKEN if False in outcomes else options.UNKNOWN if None in outcomes else options.GOOD
