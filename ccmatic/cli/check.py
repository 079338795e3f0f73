"""`ccmatic check`: check a saved proof again."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


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
    from ccmatic.cli import proof_reports as report

    checked = proving.check(*proofs, allow_code=allow_code, solver=solver)
    for finding in checked:
        click.echo(report.finding(finding, as_json))
    click.echo(report.verdict(" ".join(proofs), checked.verdict, as_json))
    return {"accepted": options.GOOD, "rejected": options.BROKEN, "unknown": options.UNKNOWN}[checked.verdict]
