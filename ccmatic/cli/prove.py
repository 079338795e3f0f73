"""`ccmatic prove` and `ccmatic check`."""

import click

from ccmatic.base import writable_folder
from ccmatic.cli import options


@click.command()
@click.argument("controller", metavar="CONTROLLER.py", shell_complete=options.names_of("controllers"))
@click.option(
    "--proof",
    required=True,
    shell_complete=options.names_of("proofs"),
    help="A name in proofs/, or a file that defines a PROOF.",
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
    from ccmatic import proving
    from ccmatic.base import definitions
    from ccmatic.verification import HOLDS, VIOLATED

    path = definitions.find_file(definitions.CONTROLLERS, controller, ".py")
    folder = writable_folder(out)
    prover = proving.Prover(proof, path, horizon, **options.asking(solver, timeout, seed))
    result = proving.begin_result(folder, prover, proof)
    with proving.Progress(prover.proof, as_json) as say:
        prover.listen = say.asks
        try:
            for name in proving.search(prover, result.constants):
                result.save()
                say.constant(name, result.constants[name])
        except proving.NoValue as error:
            raise result.with_window(error) from None
        for answer in proving.verdicts(prover, result.values, result.answers):
            result.answers[answer.lemma] = answer
            result.save()
            say.lemma(answer)
        faults = prover.faults(result.values)
        for name in proving.make_certificates(result, prover, prover.lemmas) if certify and not faults else ():
            say.certificate(name)
    proving.write_report(result, prover)
    say.end(result, prover, faults)
    outcomes = {result.answers[name].verdict for name, lemma in prover.lemmas.items() if not lemma.paper}
    return (
        options.BROKEN if faults or VIOLATED in outcomes else options.GOOD if outcomes == {HOLDS} else options.UNKNOWN
    )


@click.command()
@click.argument("proof", metavar="PROOF.json")
@options.solver
@options.timeout
@options.seed
@options.allow_code
@options.as_json
def check(proof, solver, timeout, seed, allow_code, as_json):
    """Check all of a proof anew: states, measures, each lemma (by its certificate, if it has one), each edge."""
    from ccmatic import proving

    result = proving.load_result(proof, allow_code)
    code = options.GOOD
    for finding in proving.check(result, **options.asking(solver, timeout, seed)):
        click.echo(proving.finding(finding, as_json))
        if finding.fault and code != options.BROKEN:
            code = options.UNKNOWN if finding.unknown else options.BROKEN
    verdict = {options.GOOD: "accepted", options.BROKEN: "rejected", options.UNKNOWN: "unknown"}[code]
    click.echo(proving.verdict(proof, verdict, as_json))
    return code
