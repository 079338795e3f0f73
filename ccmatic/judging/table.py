"""A table of controllers and rules: the worst value that searches found, as Markdown."""

from collections.abc import Mapping, Sequence

from ccmatic import records


def worst_table(results: Mapping[str, Sequence[records.SearchedLine]]) -> str:
    """Return a Markdown table with a row per rule and a column per subject.

    A cell has the worst value. A star marks a value that breaks the rule, a dagger a broken rule whose value is left
    out, and a dash a rule that applies to no run.
    """
    rules = list(dict.fromkeys(line.rule for lines in results.values() for line in lines))
    cells = {(line.subject, line.rule): _cell(line) for lines in results.values() for line in lines}
    rows = [
        "| rule | " + " | ".join(results) + " |",
        "|---|" + "---|" * len(results),
        *(f"| {rule} | " + " | ".join(cells.get((name, rule), "") for name in results) + " |" for rule in rules),
    ]
    return "\n".join(rows) + "\n"


def _cell(line: records.SearchedLine) -> str:
    if line.value is None:
        return "†" if line.verdict == "broken" else "–"
    return f"**{line.value:.3g}** *" if line.verdict == "broken" else f"{line.value:.3g}"
