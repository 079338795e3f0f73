"""What `prove` and `check` print."""

from dataclasses import asdict

import click
from rich.console import Console

from ccmatic import records
from ccmatic.cli.reports import left_out_lines
from ccmatic.cli.verdicts import shown_verdict
from ccmatic.proving import OF_NONE, Listener, number
from ccmatic.records import (
    ABSENT,
    CertifiedLine,
    CheckLine,
    ConstantLine,
    ExpectedLine,
    FindingLine,
    FrontLine,
    FrontPointLine,
    LemmaLine,
    ProofLine,
    ShapeLine,
)
from ccmatic.verification import HOLDS


class Progress(Listener):
    """Lines for people, and what is being asked, or JSON lines, as a proof goes on."""

    def __init__(self, as_json):
        self._as_json = as_json
        self._status = Console(stderr=True).status("")

    def __enter__(self):
        if not self._as_json:
            self._status.start()
        return self

    def __exit__(self, *_):
        self._status.stop()

    def begins(self, shape):
        """A shape is tried."""
        if not self._as_json:
            click.echo(f"by the shape {shape}:")

    def attempted(self, attempt):
        """A shape has been tried."""
        if attempt.proved:
            self.end(attempt.proved)
        solved, missing = list(attempt.result.constants), list(attempt.missing)
        text = f"{attempt.shape}: {shown_verdict(attempt.verdict)}"
        if missing:
            text += f", with {len(solved)} of {len(solved) + len(missing)} constants found: {attempt.why}"
        self._say(ShapeLine(attempt.shape, attempt.verdict, solved, missing, attempt.why), text)

    def expected(self, question, shape):
        """Report whether an expectation is proved, by a shape; None if by none."""
        name, expectation = question.controller.name, question.text
        on = question.description.text
        verdict = "proved" if shape else "unknown"
        shown = shown_verdict(verdict, "holds" if shape else "unknown", 9)
        text = f"{name:<20} {shown} {expectation}, on {on}, "
        text += (
            f"once it has converged, by the shape {shape}" if shape else "as no shape implies it; `worst` finds edges"
        )
        self._say(ExpectedLine(name, verdict, expectation, on, shape), text)

    def asks(self, lemma, values):
        """A lemma is being asked for values of the constants that it reads."""
        at = ", ".join(f"{name} = {float(value):g}" for name, value in values.items())
        self._status.update(f"{lemma}{' at ' if at else ''}{at}")

    def constant(self, declared, result):
        """A constant was found."""
        name, edge, dropped = declared.name, result.edge, declared.dropped(result.value)
        front = [list(pair) for pair in result.front]
        self._say(
            ConstantLine(name, result.value, declared.paper, front, edge and edge.lemma, dropped or ABSENT),
            f"{name:<20} {'none' if dropped else number(result.value):<8} {declared.says}; the paper: {declared.paper}"
            + (f"\n{'':<30}one better breaks '{edge.lemma}'" if edge else ""),
        )

    def lemma(self, answer):
        """A lemma was decided."""
        self._say(
            LemmaLine(answer.lemma, answer.verdict, round(answer.seconds, 3), answer.empty or ABSENT),
            f"{shown_verdict(answer.verdict, width=9)} {answer.seconds:6.1f} s  "
            f"{answer.lemma}{OF_NONE if answer.empty else ''}",
        )

    def certificate(self, name):
        """A lemma has been certified."""
        self._say(CertifiedLine(name), f"certified            {name}")

    def end(self, proved):
        """The proof is over."""
        file, claim, holds = proved.file, list(proved.claim), proved.verdict == HOLDS
        claims = [*claim] if holds else [*proved.faults, "no proof: not every lemma holds"]
        claims += left_out_lines(proved.left_out)
        text = "\n".join(["", *claims, "", f"written: {file} and {file.with_suffix('.md').name}"])
        left = records.exclusions(proved.left_out)
        self._say(ProofLine(True, holds, list(proved.faults), claim, str(file), left), text)

    def _say(self, record, text):
        click.echo(records.line(record) if self._as_json else text)


def finding(result, as_json):
    """A line of `check`."""
    if as_json:
        return records.line(FindingLine(**asdict(result)))
    mark, means = "ok" if result.checked else "not checked", "holds" if result.checked else "unknown"
    if result.unknown or result.fault:
        mark, means = ("unknown", "unknown") if result.unknown else ("FAULT", "violated")
    return f"{shown_verdict(mark, means, 11)} {result.about}: {result.fault or result.how}"


def verdict(file, verdict, as_json):
    """The last line of `check`; verdict: accepted, rejected or unknown."""
    if as_json:
        return records.line(CheckLine(True, str(file), verdict == "accepted", verdict))
    means = {"accepted": "holds", "rejected": "violated"}.get(verdict, "unknown")
    return f"{file}: {shown_verdict(verdict, means)}"


def front_point(point, dominated_by, as_json):
    """A controller of `front`; dominated_by: names, or None of one that no shape proves."""
    if as_json:
        about = {"controller": point.name, "source": point.source, "shape": point.shape, "verdict": point.verdict}
        about |= {"result": point.file, "measures": point.measures, "dominated_by": dominated_by, "why": point.why}
        return records.line(FrontPointLine(**about))
    if dominated_by is None:
        return f"{point.name:<20} {decided(point)}"
    place = f"dominated by {', '.join(dominated_by)}" if dominated_by else "on the front"
    return f"{point.name:<20} {decided(point)}  {place}  {point.file}"


def decided(point):
    """What was found of a controller of `front`, before its place is known."""
    if point.verdict != HOLDS:
        return f"{point.verdict}: {point.why or point.file}"
    return "  ".join(f"{name} {float(value):g}" for name, value in point.measures.items())


def front_end(points, dominated, figure, as_json):
    """The last line of `front`. figure: its file, or None."""
    best = [name for name, others in dominated.items() if not others]
    if as_json:
        file = None if figure is None else str(figure)
        return records.line(FrontLine(True, len(points), len(dominated), best, file))
    if not points:
        return "no controller of this template is a solution"
    counted = f"{len(best)} of {len(dominated)} that are proved, of {len(points)} controllers"
    return f"{counted}, are on the front: {', '.join(best)}; {figure}" if best else f"none of {len(points)} is proved"
