"""`ccmatic list`: the names that commands accept."""

import click

from ccmatic.cli import options
from ccmatic.cli.command import command


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
        else listed(entries)
    )
    for line in lines:
        click.echo(line)
    return options.GOOD


def listed(entries):
    """Yield the entries as lines for people, below one heading per kind."""
    kind = None
    for entry in entries:
        if entry.kind != kind:
            kind = entry.kind
            yield f"{kind}:"
        yield f"  {entry.name:<22} {entry.says}"
