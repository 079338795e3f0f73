"""The results of synthesis, of widening and of their checks, as text and as JSON lines."""

from ccmatic import records
from ccmatic.answers.reports import left_out_lines
from ccmatic.base import counted
from ccmatic.questions.query import left_out
from ccmatic.records import CoverLine, RunLine, SolutionLine, SynthesisLine
from ccmatic.synthesis import COUNTEREXAMPLE, PROVED, SKIPPED, SOLUTION, UNDECIDED, kin

__all__ = [
    "SynthesisJson",
    "SynthesisText",
    "cover_json",
    "cover_text",
    "run_json",
    "run_text",
    "widening_check_text",
    "widening_text",
]


KINDS = (SOLUTION, COUNTEREXAMPLE, SKIPPED, UNDECIDED, PROVED)


def run_json(path, about, events):
    counts = {kind: sum(event.kind == kind for event in events) for kind in KINDS}
    line = {"run": str(path), "name": about.name, "finished": bool(about.finished), "version": about.version}
    seconds = round(sum(event.seconds for event in events), 3)
    return records.line(RunLine(**line, **counts, solver_seconds=seconds, query=about.query))


def run_text(path, about, events):
    counts = ", ".join(f"{sum(event.kind == kind for event in events)} {kind}" for kind in KINDS)
    state = "finished" if about.finished else "not finished: the same command resumes"
    lines = [f"{path}: {about.name}, {state}", f"    {counts}"]
    lines += [f"    {key}: {value}" for key, value in records.data(about.query).items()]
    for event in events:
        if event.kind == SOLUTION:
            lines += ["", *(f"    {line}" for line in event.source.splitlines())]
    return "\n".join(lines)


def cover_json(path, outcome):
    return records.line(
        CoverLine(
            run=str(path),
            covered=outcome.covered,
            solutions=outcome.solutions,
            counterexamples=outcome.counterexamples,
            skipped=outcome.skipped,
            candidates=outcome.query.template.size,
            method=outcome.method,
            steps=outcome.steps,
            faults=list(outcome.faults),
            solutions_verified=outcome.verified,
            undecided=list(outcome.undecided),
            uncovered=outcome.uncovered,
        )
    )


def cover_text(path, outcome):
    size = f"{outcome.query.template.size:,} candidates"
    claim = (
        "no candidate is a solution"
        if not outcome.solutions
        else f"no class has a solution but those of its {counted(outcome.solutions, 'solution')}"
    )
    question = f"question: {outcome.query}"
    by = "enumeration" if outcome.method == "enumeration" else f"a refutation of {outcome.steps:,} checked steps"
    if outcome.covered:
        seen = f"{counted(outcome.counterexamples, 'counterexample')} replayed{_skipped(outcome.skipped)}"
        if outcome.undecided:
            claim = f"if the undecided events are right, {claim}"
        return "\n".join([question, f"{path}: {seen}; {claim} among {size}, by {by}", *_of_solutions(outcome)])
    lines = [question, f"{path}: does not show that {claim}", *(f"    {fault}" for fault in outcome.faults)]
    if outcome.uncovered:
        lines += ["    nothing decides this candidate:", *(f"    {line}" for line in outcome.uncovered.splitlines())]
    return "\n".join(lines)


def _skipped(number):
    return f", {number} skipped, without executions" if number else ""


def _of_solutions(outcome):
    if outcome.undecided:
        events = ", ".join(map(str, outcome.undecided))
        yield f"    timed out on these events: {events}"
    if not outcome.verified and outcome.solutions:
        yield "    the solutions are trusted; --verify-solutions verifies them again"
    elif outcome.solutions and not outcome.undecided:
        yield "    each was verified again"


class SynthesisJson:
    """Prints a JSON line for each solution, and finally a summary."""

    def __init__(self, query):
        self._query = query

    def __enter__(self):
        return self

    def update(self, now, file):
        self._now = now
        if file:
            controller = now.controller
            seconds = round(now.seconds, 3)
            line = SolutionLine(now.solutions, controller.name, str(file), controller.source, seconds)
            print(records.line(line), flush=True)

    def __exit__(self, kind, *_):
        if kind is None:
            print(records.line(_summary(self._now, left_out(self._query))), flush=True)


class SynthesisText:
    """Shows a line of progress on a terminal, and prints each solution when the search finds it."""

    def __init__(self, query):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._query, self._console = query, Console(highlight=False, soft_wrap=True)
        live = Console(stderr=True)
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=live, transient=True, disable=not live.is_terminal)

    def __enter__(self):
        self._console.print(f"{self._query.name}: {self._query}", markup=False)
        self._progress.start()
        self._task = self._progress.add_task("", total=None)
        return self

    def update(self, now, file):
        self._now = now
        text = f"{counted(now.counterexamples, 'counterexample')}, {counted(now.solutions, 'solution')}"
        if now.left is not None:
            text = f"{now.left:,} candidates left, {text}"
            self._progress.update(self._task, completed=now.candidates - now.left, total=now.candidates)
        self._progress.update(self._task, description=text)
        if file:
            like = kin(now.controller)
            also = f"   (the paper's {', '.join(like)})" if like else ""
            self._console.print(f"\nsolution {now.solutions}: {file}{also}", markup=False)
            listing = "\n".join(f"    {line}" for line in now.controller.pretty().splitlines())
            self._console.print(listing, markup=False)

    def __exit__(self, kind, *_):
        self._progress.stop()
        if kind is None:
            now = self._now
            summary = f"{counted(now.solutions, 'solution')}, one of each class that has one"
            if now.undecided:
                summary = counted(now.solutions, "solution")
            elif not now.solutions:
                summary = "no controller of this template is a solution"
            if now.anyone:
                summary = "no controller is a solution: for any rates, beliefs turn false on this network"
            undecided = f", {now.undecided} undecided" if now.undecided else ""
            self._console.print(
                f"\n{summary}{_skipped(now.skipped)}{undecided}: {now.candidates:,} candidates, "
                f"{counted(now.iterations, 'iteration')}, {now.seconds:.1f} s"
            )
            for line in left_out_lines(left_out(self._query)):
                self._console.print(line, markup=False)


def _summary(now, left):
    return SynthesisLine(
        summary=True,
        solutions=now.solutions,
        iterations=now.iterations,
        seconds=round(now.seconds, 3),
        candidates=now.candidates,
        counterexamples=now.counterexamples,
        undecided=now.undecided,
        skipped=now.skipped,
        whatever_the_rates=now.anyone,
        left_out=records.exclusions(left),
    )


def widening_text(result, lines, summary, folder):
    for line, point in zip(lines, result.maximal, strict=True):
        yield f"{line.file}"
        yield from (f"    {text}" for text in result.grid.envelope(point).pretty().splitlines())
        for end, trace in line.wider.items():
            at, which = end.split(".")
            outcome = f"broken by {trace}" if trace else "timed out"
            yield f"    {which} in line {at}, a step wider: {outcome}"
    left = f", {summary.undecided:,} timed out" if summary.undecided else ""
    count = f"{summary.envelopes} maximal of {summary.grid:,} envelopes{left}"
    if not lines and not summary.undecided:
        count = f"{result.grid.controller.name} breaks the property, and so does every envelope around it"
    yield f"{count}; {summary.questions} checked by a solver, {summary.seconds:.1f} s"
    yield f"in {folder}   (check it: ccmatic check-widening {folder})"


def widening_check_text(folder, report):
    one = "its 1 envelope is the only maximal one"
    only = one if report.envelopes == 1 else f"its {report.envelopes} envelopes are the only maximal ones"
    if not report.complete:
        yield f"{folder}: does not show that {only}"
        yield from (f"    {fault}" for fault in report.faults)
        if report.uncovered:
            yield "    nothing decides this envelope:"
            yield from (f"    {line}" for line in report.uncovered.splitlines())
        return
    claim = f"{only} among {report.grid:,}"
    yield f"{folder}: {counted(report.traces, 'trace')} replayed; {claim}"
    if not report.verified:
        yield "    the envelopes are trusted to hold; --verify-envelopes verifies them again"
    elif report.undecided:
        yield f"    timed out on whether these hold: {', '.join(report.undecided)}"
    else:
        yield "    each was verified again"
