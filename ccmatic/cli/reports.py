"""What commands print: text for people, JSON lines for programs."""

from pathlib import Path

import click

from ccmatic import records, verification
from ccmatic.base import Unreadable, aligned, writable_folder
from ccmatic.cli import options
from ccmatic.explanation import legend
from ccmatic.records import QueryRecord, ReplayLine, VerifyLine, WorstLine


def trace_files(folder, controllers):
    """The path in a folder of a file for the trace of each controller, a list in their order, no two the same."""
    files = []
    for controller in controllers:
        file, again = Path(folder) / f"{controller.name}.json", 2
        while file in files:
            file, again = Path(folder) / f"{controller.name}-{again}.json", again + 1
        files.append(file)
    return files


def saved(trace, file, model=None):
    """Whether a trace could be saved and, if its Model is given, drawn beside its file; where not, that is said, and
    the verdict stands."""
    from ccmatic.traces import draw_trace

    try:
        writable_folder(file.parent)
        trace.save(file)
        if model:
            draw_trace(trace, file.with_suffix(".png"), model)
        return True
    except Unreadable as error:
        options.complain(f"{error}; the trace is not saved, expected a folder for it in --save")
        return False


def judgement_json(name, judgement, file, told=None):
    """One line of `verify --json`; file: of the trace, None if it could not be saved; told: its Explanation."""
    line = {}
    if judgement.trace:
        line = {"broken": list(judgement.trace.broken), "way": judgement.way, "trace": file and str(file)}
    elif judgement.unmodelled:
        line = {
            "relies_on": "published delay",
            "broken_otherwise": list(judgement.unmodelled.broken),
            "unmodelled_counterexample": file and str(file),
        }
    elif judgement.unsure:
        line = {"relies_on": "unknown"}
    if judgement.verdict == "unknown":
        line |= {"way": judgement.way}
    if told:
        line |= {"explanation": told.record()}
    left = records.exclusions(judgement.left_out)
    return records.line(VerifyLine(name, judgement.verdict, round(judgement.seconds, 3), left, **line))


def judgement_text(judgement, file):
    """A Judgement in a few lines for a person; file: as of `judgement_json`."""
    name = judgement.controller.name
    lines = [f"{name:<20} {judgement.verdict:<9} {judgement.seconds:6.1f} s"]
    trace = judgement.trace or judgement.unmodelled
    if judgement.trace:
        lines[0] += f"   {_broken(judgement.trace)}"
    elif judgement.unmodelled:
        lines.append("    on the published model; an execution that it leaves out, in which a step passes without")
        lines.append(f"    service and the measured delay then jumps, breaks it: {_broken(judgement.unmodelled)}")
    elif judgement.unsure:
        lines.append("    on the published model; whether on every execution could not be told in time")
    elif judgement.verdict == "unknown":
        lines[0] += f"   no answer in time whether: {judgement.way}"
    lines += left_out_lines(judgement.left_out)
    return "\n".join([*lines, *(file_lines(file) if trace else ())])


def left_out_lines(left_out):
    """What a question excludes: a line an Exclusion."""
    return [f"    left out: {exclusion}" for exclusion in left_out]


def file_lines(file):
    """Where a trace is, if it could be saved."""
    return [f"    trace: {file}   (check it: ccmatic replay {file})"] if file else []


def worst_json(of, worst, file, told=None):
    """The line of `worst --json`; file, told: as of `judgement_json`."""
    line = {"trace": file and str(file), "explanation": told.record()} if worst.trace else {}
    line |= {} if worst.index is None else {"index": list(worst.index)}
    none = None if worst.never else worst.none
    found = of, worst.quantity.what, worst.quantity.worse, worst.verdict, worst.never, none, worst.some
    left = records.exclusions(worst.left_out)
    return records.line(WorstLine(worst.controller.name, *found, round(worst.seconds, 3), left, **line))


def worst_text(of, worst, file):
    """The same in a few lines for a person."""
    first = f"{worst.controller.name:<20} {of}: {worst.sentence()}   {worst.seconds:.1f} s"
    return "\n".join([first, *left_out_lines(worst.left_out), *(file_lines(file) if worst.trace else ())])


def replay_json(file, outcome, told):
    """The line of `replay --json`; told: the Explanation."""
    breaks = outcome.outcome is verification.Outcome.BREAKS
    return records.line(
        ReplayLine(
            trace=str(file),
            passes=not outcome.faults,
            laws=outcome.checked,
            faults=list(outcome.faults),
            outcome=outcome.outcome.value,
            reason=outcome.reason,
            broken=list(outcome.unmet) if breaks else [],
            query=records.convert(outcome.query.record(), QueryRecord),
            controller=outcome.controller and outcome.controller.source,
            explanation=told.record(),
        )
    )


def told_text(trace, query, told):
    """The trace as a table, what its columns hold, and its Explanation in sentences."""
    lines = [table(trace)]
    lines += [f"    {name}: {says}" for name, says in legend(query, trace.columns).items()]
    return "\n".join([*lines, "", str(told)])


def replay_text(file, trace, outcome, told):
    """The trace, what it was replayed as, and what was found."""
    lines = [told_text(trace, outcome.query, told), "", f"{outcome.query}"]
    if outcome.controller:
        lines += ["controller:", *(f"    {line}" for line in outcome.controller.pretty().splitlines())]
    else:
        lines.append("controller: nobody's rates")
    lines.append("")
    if outcome.faults:
        lines.append(f"{file}: not a trace of this network and controller; it breaks")
        lines += [f"    {fault}" for fault in outcome.faults[:20]]
        if len(outcome.faults) > 20:
            lines.append(f"    … and {len(outcome.faults) - 20} more")
    else:
        lines.append(f"{file}: passes, {outcome.checked} laws checked; {_said_of_the_property(outcome)}")
    return "\n".join(lines)


def _said_of_the_property(outcome):
    if outcome.outcome is verification.Outcome.BREAKS:
        return f"breaks: {'; '.join(outcome.unmet)}"
    if outcome.outcome is verification.Outcome.KEEPS:
        return "keeps the property"
    return f"whether it breaks the property cannot be judged: {outcome.reason}"


def _broken(trace):
    return "breaks: " + "; ".join(trace.broken) if trace.broken else "breaks nothing"


def table(trace):
    """The columns of a trace, exact, and its constants, as text of a line a step."""
    header, *lines = aligned([("t", *trace.columns), *(row.values() for row in trace.rows())])
    constants = ", ".join(f"{name} = {value}" for name, value in trace.constants.items())
    return "\n".join([click.style(header, bold=True), *lines, constants])
