"""`ccmatic prove`: what a controller guarantees for all time."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


@command(
    example="""
ccmatic prove cc_qdel --on 'ccac, buffer infinite, jitter 1 rtt' \\
    --expect 'utilisation >= 1/2'
"""
)
@click.argument("controller", metavar="CONTROLLER.py", shell_complete=options.names_of("controllers"))
@click.option(
    "--proof",
    shell_complete=options.names_of("proofs"),
    help="A name in proofs/, or a file that defines a PROOF.  [default: each shape that fits the controller]",
)
@click.option("--horizon", type=click.IntRange(min=3, max=1000), help="Steps of a window, T.  [default: the proof's]")
@click.option(
    "--out", default="results/proofs", show_default=True, help="The output folder; the same command resumes there."
)
@options.question
@click.option("--certify", is_flag=True, help="Write a certificate for each lemma, for `ccmatic check`.")
@options.solver
@options.as_json
def prove(controller, proof, horizon, out, on, expect, start, certify, solver, as_json):
    """Prove what a controller guarantees for all time.

    The command finds each constant of a proof to its edge.
    """
    from ccmatic import api
    from ccmatic.cli import proof_reports as report

    if on or expect:
        (expectation,) = options.expectations(on, expect, most=1)
        options.refuse({"proof": proof, "horizon": horizon}, "--on and --expect alone")
        question = api.ask(controller, on, expectation, start=start or "any")
        with report.Progress(as_json) as say:
            return _expected(
                question, api.prove_expected(question, out, certify=certify, listener=say, solver=solver), say
            )
    options.refuse({"from": start}, "--on and --expect as well")
    with report.Progress(as_json) as say:
        settings = {"horizon": horizon, "certify": certify, "listener": say}
        if proof is None:
            return _by_shapes(api.prove_by_shapes(controller, out, **settings, solver=solver), say)
        proved = api.prove(controller, proof, out, **settings, solver=solver)
    say.end(proved)
    return options.outcome({proved.verdict})


def _expected(question, attempts, say):
    """The exit code: proved, or not known."""
    for attempt, implied in attempts:
        say.attempted(attempt)
        if implied:
            say.expected(question, attempt.shape)
            return options.GOOD
    say.expected(question, None)
    return options.UNKNOWN


def _by_shapes(attempts, say):
    """The exit code: one shape that will do is enough."""
    verdicts = set()
    for attempt in attempts:
        say.attempted(attempt)
        verdicts.add(attempt.verdict)
    return options.GOOD if "holds" in verdicts else options.outcome(verdicts)
