"""Answers as text for people, and as JSON lines for programs."""

import shlex
from dataclasses import replace
from math import ceil

import click

from ccmatic import records
from ccmatic.answers import verification
from ccmatic.base import aligned, counted, shown_verdict
from ccmatic.records import AttemptRecord, DecisionLine, QueryRecord, ReplayLine, StarveLine, VerifyLine, WorstLine

__all__ = [
    "advice_lines",
    "answer_text",
    "decision_json",
    "decision_text",
    "expectation_text",
    "judgement_json",
    "judgement_text",
    "left_out_lines",
    "of_edge",
    "on_a_screen",
    "replay_json",
    "replay_text",
    "starve_json",
    "starve_text",
    "table",
    "trace_text",
    "worst_json",
    "worst_text",
]


#: The rows and columns of a terminal of the usual size.
SCREEN = (24, 80)


def decision_json(file, property, decision):
    values = [None if each is None else list(each) for each in (decision.inputs, decision.outputs)]
    line = DecisionLine(file, property, decision.verdict, round(decision.seconds, 3), *values, decision.branches)
    return records.line(line)


def decision_text(file, property, decision):
    lines = [f"{file:20} {shown_verdict(decision.verdict):10} {decision.seconds:5.1f} s   {property}"]
    if decision.inputs is not None:
        values = [("X", decision.inputs), ("Y", decision.outputs)]
        named = [f"{name}_{place} = {float(each):g}" for name, several in values for place, each in enumerate(several)]
        lines += ["    a counterexample, replayed in exact numbers (--json prints them):", f"    {', '.join(named)}"]
    return "\n".join(lines)


def judgement_json(name, judgement, file, explanation=None, question=None):
    """Return one line of `verify --json`.

    `name` is the controller as the user wrote it. `file` is that of the trace; None if it could not be saved.
    `question` is None if a property was verified.
    """
    line = {}
    if question:
        line = _question(question)
        line |= {"measured": question.measured(judgement.trace)} if judgement.trace else {}
    if judgement.trace:
        line |= {"broken": list(judgement.trace.broken), "way": judgement.way, "trace": file and str(file)}
    elif judgement.unmodelled:
        line |= {
            "relies_on": "published delay",
            "broken_otherwise": list(judgement.unmodelled.broken),
            "unmodelled_counterexample": file and str(file),
        }
    elif judgement.unsure:
        line |= {"relies_on": "unknown"}
    if judgement.verdict == "unknown":
        line |= {"way": judgement.way}
    if explanation:
        line |= {"explanation": explanation.record()}
    advice = advice_on(question, judgement)
    line |= {"advice": list(advice)} if advice else {}
    left = records.exclusions(judgement.left_out)
    line |= {"remembered": judgement.remembered}
    return records.line(VerifyLine(name, judgement.verdict, round(judgement.seconds, 3), left, **line))


def judgement_text(judgement, file):
    lines = [_headline(judgement.controller, judgement.verdict, judgement.seconds)]
    trace = judgement.trace or judgement.unmodelled
    if judgement.trace:
        lines[0] += f"   {_broken(judgement.trace)}"
    elif judgement.unmodelled:
        lines.append("    on the published model; an execution that it leaves out, in which a step passes without")
        lines.append(f"    service and the measured delay then jumps, breaks it: {_broken(judgement.unmodelled)}")
    elif judgement.unsure:
        lines.append("    on the published model; the solver timed out on executions outside it")
    elif judgement.verdict == "unknown":
        lines[0] += f"   timed out on: {judgement.way}"
    lines += left_out_lines(judgement.left_out) + advice_lines(judgement.advice) + _memory_lines(judgement)
    return "\n".join([*lines, *(file_lines(file) if trace else ())])


def answer_text(question, judgement, file):
    lines = [_headline(judgement.controller, judgement.verdict, judgement.seconds, question.text)]
    if judgement.trace:
        measured = question.measured(judgement.trace)
        lines[0] += f": in this trace {measured}" if measured else ""
    elif judgement.verdict == "unknown":
        lines[0] += ": timed out"
    elif question.scope:
        lines[0] += f", {question.scope}"
    lines += _question_lines(question)
    lines += left_out_lines(judgement.left_out) + advice_lines(advice_on(question, judgement))
    lines += _memory_lines(judgement)
    return "\n".join([*lines, *(file_lines(file) if judgement.trace else ())])


def advice_on(question, judgement):
    """Return the advice on a Judgement and, if there is a counterexample, that on the Question."""
    return (*judgement.advice, *(question.advice(judgement.trace) if judgement.trace and question else ()))


def _headline(controller, verdict, seconds, *parts):
    answer = f"{controller.name:<20} {shown_verdict(verdict, width=9)} {seconds:6.1f} s"
    return "   ".join([answer, *parts])


def left_out_lines(left_out):
    return [f"    left out: {exclusion}" for exclusion in left_out]


def advice_lines(advice):
    return [f"    try: {sentence}" for sentence in advice]


def file_lines(file):
    """Return lines with a trace's file and the command that checks it; no lines if the trace was not saved."""
    return [f"    trace: {file}", f"    check it: ccmatic replay {shlex.quote(str(file))}"] if file else []


def of_edge(explanation, of, worst):
    """Return the Explanation of the trace of a WorstCase. The value that the trace reaches comes first."""
    if worst.quantity.worse is None or worst.quantity.low == worst.quantity.high:
        return explanation
    value = f"{worst.quantity.worse} {worst.some} {worst.quantity.unit}".rstrip()
    return replace(explanation, broken=(f"'{of}': the worst value of this trace is {value}.",))


def worst_json(of, worst, file, explanation=None, question=None):
    line = {"trace": file and str(file), "explanation": explanation.record()} if worst.trace else {}
    line |= {} if worst.index is None else {"index": list(worst.index)}
    if question:
        line |= {**_question(question), "met": question.met(worst)}
    none = None if worst.never else worst.none
    answer = of, worst.quantity.what, worst.quantity.worse, worst.verdict, worst.never, none, worst.some
    line |= {"advice": list(worst.advice)} if worst.advice else {}
    left = records.exclusions(worst.left_out)
    line |= {"remembered": worst.remembered}
    return records.line(WorstLine(worst.controller.name, *answer, round(worst.seconds, 3), left, **line))


def worst_text(of, worst, file, question=None):
    lines = [f"{worst.controller.name:<20} {of}: {worst.sentence()}   {worst.seconds:.1f} s"]
    if question:
        scope = f"; {question.scope}" if question.scope and worst.none is not None else ""
        lines = [_headline(worst.controller, question.met(worst), worst.seconds, f"{of}: {worst.sentence()}{scope}")]
        lines += _question_lines(question)
    lines += left_out_lines(worst.left_out) + advice_lines(worst.advice) + _memory_lines(worst)
    return "\n".join([*lines, *(file_lines(file) if worst.trace else ())])


def _memory_lines(answer):
    return [
        "    remembered: this machine has decided the same question before; --fresh decides it again"
    ] * answer.remembered


def _question(question):
    return {
        "expect": question.text,
        "on": question.description.text,
        "where": question.where,
        "start": question.query.property.start,
        "notes": list(question.notes),
    }


def _question_lines(question):
    return [f"    {line}" for line in (*question.lines, *(f"note: {note}" for note in question.notes))]


def starve_json(answer, file):
    shown = {}
    if answer.trace:
        shown = {"flow": answer.least.number, "share": answer.share, "ratio": answer.ratio}
        shown |= {"period": answer.attempt.period, "why": answer.why, "trace": file and str(file)}
    line = StarveLine(
        controller=answer.controller.name,
        verdict=answer.verdict,
        on=answer.on,
        where=answer.where,
        notes=list(answer.notes),
        threshold=answer.threshold,
        attempts=list(map(_attempt, answer.attempts)),
        seconds=round(answer.seconds, 3),
        left_out=records.exclusions(answer.left_out),
        suggestions=answer.suggestions,
        **shown,
    )
    return records.line(line)


def _attempt(attempt):
    verdict = "unknown" if not attempt.decided else "found" if attempt.exists else "none"
    none, some = (attempt.worst.none, attempt.worst.some) if attempt.worst else (None, None)
    return AttemptRecord(attempt.period, attempt.horizon, verdict, none, some, round(attempt.seconds, 3))


def starve_text(answer, file):
    meaning = {"starves": "violated", "does not starve": "holds"}.get(answer.verdict)
    verdict = shown_verdict(answer.verdict, meaning)
    lines = [f"{answer.controller.name:<20} {verdict}: {answer.sentence()}   {answer.seconds:.1f} s"]
    lines += [f"    {sentence}" for sentence in answer.why]
    lines += [f"    on {answer.where}  (--on '{answer.on}')", *(f"    note: {note}" for note in answer.notes)]
    lines.append(f"    a flow starves below {answer.threshold} of what is served, a tenth of its fair part")
    lines += [f"    tried {each.executions}: {each.sentence()}   {each.seconds:.1f} s" for each in answer.attempts]
    lines += [f"    try {suggestion}" for suggestion in answer.suggestions]
    lines += left_out_lines(answer.left_out)
    return "\n".join([*lines, *(file_lines(file) if answer.trace else ())])


def expectation_text(judged):
    meaning = {"met": "holds", "not met": "violated"}.get(judged.verdict, "unknown")
    return f"{shown_verdict(judged.verdict, meaning, 14)} {judged.sentence}"


def replay_json(file, outcome, explanation, judged=()):
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
            explanation=explanation.record(),
            expectations=list(judged) or records.ABSENT,
        )
    )


def trace_text(trace, query, explanation):
    """Return a trace as a table, followed by the meaning of its columns and by its Explanation."""
    from ccmatic.answers.explanation import legend

    lines = [table(trace)]
    lines += [f"    {name}: {says}" for name, says in legend(query, trace.columns).items()]
    return "\n".join([*lines, "", str(explanation)])


def on_a_screen(text, explanation):
    """Return a text and the first sentences of an Explanation: at least one, and as many as fit on a screen."""
    lines, sentences = [*text.splitlines(), ""], str(explanation).splitlines()
    while sentences and (not lines[-1] or _rows([*lines, sentences[0]]) < SCREEN[0] - 1):
        lines.append(sentences.pop(0))
    if sentences:
        lines.append(f"… and {counted(len(sentences), 'more sentence')}, with --verbose")
    return "\n".join(lines)


def _rows(lines):
    return sum(max(1, ceil(len(click.unstyle(line)) / SCREEN[1])) for line in lines)


def replay_text(file, trace, outcome, explanation):
    lines = [trace_text(trace, outcome.query, explanation), "", f"{outcome.query}"]
    if outcome.controller:
        lines += ["controller:", *(f"    {line}" for line in outcome.controller.pretty().splitlines())]
    else:
        lines.append("controller: none, the rates are arbitrary")
    lines.append("")
    if outcome.faults:
        refused = shown_verdict("not a trace", "violated")
        lines.append(f"{file}: {refused} of this network and controller; it breaks")
        lines += [f"    {fault}" for fault in outcome.faults[:20]]
        if len(outcome.faults) > 20:
            lines.append(f"    … and {len(outcome.faults) - 20} more")
    else:
        passes = f"{shown_verdict('passes', 'holds')}, {counted(outcome.checked, 'law')} checked"
        lines.append(f"{file}: {passes}; {_property_text(outcome)}")
    return "\n".join(lines)


def _property_text(outcome):
    if outcome.outcome is verification.Outcome.BREAKS:
        return (
            f"{shown_verdict('breaks', 'violated')}: {'; '.join(map(outcome.query.property.in_words, outcome.unmet))}"
        )
    if outcome.outcome is verification.Outcome.KEEPS:
        return shown_verdict("keeps the property", "holds")
    unknown = shown_verdict("cannot be judged", "unknown")
    return f"whether it breaks the property {unknown}: {outcome.reason}"


def _broken(trace):
    return "breaks: " + "; ".join(trace.broken) if trace.broken else "breaks nothing"


def table(trace):
    """Return the exact columns and the constants of a trace as text, with one line per step."""
    header, *lines = aligned([("t", *trace.columns), *(row.values() for row in trace.rows())])
    constants = ", ".join(f"{name} = {value}" for name, value in trace.constants.items())
    return "\n".join([click.style(header, bold=True), *lines, constants])
