"""`ccmatic prove`, `check`, `front` and `tradeoff`."""

import click

from ccmatic.cli import options


@click.command()
@click.argument("controller", metavar="CONTROLLER.py", shell_complete=options.names_of("controllers"))
@click.option(
    "--proof",
    shell_complete=options.names_of("proofs"),
    help="A name in proofs/, or a file that defines a PROOF.  [default: each shape for what the controller reads]",
)
@click.option("--horizon", type=click.IntRange(min=3, max=1000), help="Steps of a window, T.  [default: the proof's]")
@click.option("--out", default="proofs", show_default=True, help="Folder for what is found; the same command goes on.")
@click.option("--certify", is_flag=True, help="Write a certificate for each lemma, for `ccmatic check`.")
@options.solver
@options.timeout
@options.seed
@options.as_json
def prove(controller, proof, horizon, out, certify, solver, timeout, seed, as_json):
    """Prove what a controller guarantees for all time: find the constants of a proof, each to its edge."""
    from ccmatic import api
    from ccmatic.cli import proof_reports as report

    asking = options.asking(solver, timeout, seed)
    with report.Progress(as_json) as say:
        told = {"horizon": horizon, "certify": certify, "listener": say}
        if proof is None:
            return _by_shapes(api.prove_by_shapes(controller, out, **told, **asking), say)
        proved = api.prove(controller, proof, out, **told, **asking)
    say.end(proved)
    return options.outcome({proved.verdict})


def _by_shapes(attempts, say):
    """The exit code: one shape that will do is enough."""
    verdicts = set()
    for attempt in attempts:
        say.attempted(attempt)
        verdicts.add(attempt.verdict)
    return options.GOOD if "holds" in verdicts else options.outcome(verdicts)


@click.command()
@click.argument("proof", metavar="PROOF.json")
@options.solver
@options.timeout
@options.seed
@options.allow_code
@options.as_json
def check(proof, solver, timeout, seed, allow_code, as_json):
    """Check all of a proof anew: states, measures, each lemma (by its certificate, if it has one), each edge."""
    from ccmatic import api
    from ccmatic.cli import proof_reports as report

    checked = api.check(proof, allow_code=allow_code, **options.asking(solver, timeout, seed))
    for finding in checked:
        click.echo(report.finding(finding, as_json))
    click.echo(report.verdict(proof, checked.verdict, as_json))
    return {"accepted": options.GOOD, "rejected": options.BROKEN, "unknown": options.UNKNOWN}[checked.verdict]


@click.command()
@click.argument("query", metavar="QUERY.toml", shell_complete=options.names_of("queries"))
@click.option("--out", help="Folder for run, proofs and figure; the same command goes on.  [default: QUERY-front]")
@click.option("--step", help="Also prove the maximal envelopes around those on the front; the step is as of widen.")
@options.jobs
@options.cluster
@options.solver
@options.timeout
@options.seed
@options.as_json
def front(query, out, step, jobs, cluster, solver, timeout, seed, as_json):
    """Prove every controller of a query's classes by shapes, and find those that nothing dominates."""
    from ccmatic import api
    from ccmatic.cli import proof_reports as report

    asked, asking = api.load_query(query), options.asking(solver, timeout, seed)
    with options.Waiting(f"reading {query}") as waiting:

        def begun(what):
            waiting.what = what

        def decided(point, number, of):
            waiting.tell(f"{number} of {of}, {point.name}: {report.decided(point)}")

        where = {"step": step, "jobs": jobs, "cluster": cluster, "begun": begun, "decided": decided}
        found = api.find_front(asked, out, **where, **asking)
    for point in found.points:
        click.echo(report.front_point(point, found.dominated.get(point.name), as_json))
    click.echo(report.front_end(found.points, found.dominated, found.figure, as_json))
    if not found.points:
        return options.BROKEN
    return options.GOOD if found.dominated else options.outcome({point.verdict for point in found.points})


@click.command()
@click.option(
    "--allowance",
    "allowances",
    multiple=True,
    metavar="EXPR",
    help="f, in packets: an expression in C; repeatable.  [default: 1, log(C), sqrt(C), C/10 and C]",
)
@click.option("--buffer-time", default="1", show_default=True, help="β_s: the buffer, in R_m.")
@click.option("--from", "start", default="10", show_default=True, help="C_0, in packets per R_m.")
@click.option("--up-to", "end", default="1000", show_default=True, help="C, in packets per R_m.")
@click.option("--out", default="tradeoff", show_default=True, help="Folder for figures, tables, trace and proof.")
@options.as_json
def tradeoff(allowances, buffer_time, start, end, out, as_json):
    """Reproduce the trade-off between loss and convergence time, and check the steps of its proof."""
    from ccmatic import api, records

    outcomes = set()
    for found in api.reproduce_tradeoff(allowances, buffer_time=buffer_time, start=start, end=end, out=out):
        outcomes.add(found.good)
        if as_json or found.text:
            click.echo(records.line(found.row) if as_json else found.text)
    return options.BROKEN if False in outcomes else options.UNKNOWN if None in outcomes else options.GOOD
