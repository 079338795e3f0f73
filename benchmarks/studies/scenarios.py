"""Play the test cases of the BBR draft and the scenarios of RFC 9743.

    python -m benchmarks.studies.scenarios [NAME …] [--document DOCUMENT] [--simulated SENDER …] [--emulated SENDER …]
                                           [--out FILE] [--table]

A NAME is a scenario of examples/scenarios; without a NAME, the command plays all of them. The senders of --simulated
are controllers with state. Their exported C code runs in the packet simulator, in steps of R_m. The senders of
--emulated are flows of `ccmatic emulate`, such as `bbr` or `bpf:bbr_v1`. The emulator needs root, Linux and a quiet
machine. The command repeats an invalid run, up to three runs in all.

FILE has a line of JSON for each scenario and sender. The same command resumes from FILE, and plays runs again that were
not valid. With --table, the command plays nothing, and prints the tables of FILE in Markdown, where – means that the
world cannot play the scenario.
"""

import argparse
import sys
from itertools import groupby
from pathlib import Path

from benchmarks.lib import played, scenario_files
from ccmatic.base import InputError, suggest
from ccmatic.records import line, read_record

ATTEMPTS = 3


def play(name, scenario, world, sender):
    """Return the ScenarioResult of the first valid run, or of the last run if none is valid."""
    for _ in range(ATTEMPTS if world == "emulated" else 1):
        result = played.play(name, scenario, world, sender)
        if result.verdict != "not valid":
            break
    return result


def read_results(file):
    """Return the results in a file by (scenario, world, sender); later lines replace earlier ones."""
    lines = file.read_text("utf-8").splitlines() if file and file.exists() else []
    results = [read_record(each, played.ScenarioResult, str(file)) for each in lines]
    return {(result.scenario, result.world, result.sender): result for result in results}


def text(result):
    """Return the lines that report a result."""
    reason = f" ({result.reason})" if result.reason else ""
    about = [f"    {each}" for each in (*result.premises, *result.expectations)]
    return "\n".join([f"{result.scenario}, {result.world}, {result.sender}: {result.verdict}{reason}", *about])


def cell(result):
    """Return the cell of the table: the verdict, and the expectations that decide it."""
    if result is None:
        return ""
    if result.verdict in ("not met", "not reached"):
        deciding = result.expectations if result.verdict == "not met" else result.premises
        return f"**{result.verdict}**: {'; '.join(each.sentence for each in deciding if each.verdict != 'met')}"
    return "–" if result.verdict == "not played" else result.verdict


def table(chosen, results, columns=()):
    """Return a table in Markdown for each document, with a row for each scenario and a column for each sender.

    By default, a table has a column for each world and sender with results for the document.
    """
    tables = []
    for document, group in groupby(chosen.items(), lambda pair: document_of(pair[1])):
        scenarios_of = dict(group)
        known = dict.fromkeys((world, sender) for name, world, sender in results if name in scenarios_of)
        heads = [
            "scenario",
            f"section of {document}",
            *(f"{sender}, {world}" for world, sender in columns or known),
        ]
        rows = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
        for name, scenario in scenarios_of.items():
            cells = [cell(results.get((name, *column))) for column in columns or known]
            rows.append("| " + " | ".join([f"`{name}`", scenario.source.partition(", ")[2], *cells]) + " |")
        tables.append("\n".join(rows))
    return "\n\n".join(tables)


def document_of(scenario):
    """Return the name of the document that a scenario comes from."""
    return scenario.source.partition(", ")[0]


def main():
    """Play the missing runs, and print each result, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--document", help="only the scenarios of this document, such as 'RFC 9743'")
    parser.add_argument("--simulated", nargs="+", default=[], metavar="SENDER")
    parser.add_argument("--emulated", nargs="+", default=[], metavar="SENDER")
    parser.add_argument("--out", type=Path, metavar="FILE")
    parser.add_argument("--table", action="store_true", help="only print the tables of FILE")
    given = parser.parse_args()
    chosen, results = scenario_files.chosen(given.names), read_results(given.out)
    if given.document:
        known = {document_of(each) for each in chosen.values()}
        if given.document not in known:
            raise InputError(f"there is no document '{given.document}'; {suggest(given.document, known)}")
        chosen = {name: each for name, each in chosen.items() if document_of(each) == given.document}
    columns = [("simulated", each) for each in given.simulated] + [("emulated", each) for each in given.emulated]
    if given.table:
        print(table(chosen, results, columns))
        return
    for world, sender in columns or [("simulated", "bbr_v1")]:
        for name, scenario in chosen.items():
            known = results.get((name, world, sender))
            if known is None or known.verdict == "not valid":
                result = play(name, scenario, world, sender)
                print(text(result), flush=True)
                if given.out:
                    with given.out.open("a", encoding="utf-8") as lines:
                        lines.write(line(result) + "\n")


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"error: {error}")
