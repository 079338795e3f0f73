"""The progress and the results of `prove`, `check` and `front`, as text and as JSON lines."""

from dataclasses import asdict

import click
from msgspec.structs import replace
from rich.console import Console

from ccmatic import records
from ccmatic.answers.reports import left_out_lines
from ccmatic.answers.verification import HOLDS
from ccmatic.base import counted, shown_verdict
from ccmatic.proving import OF_NONE, Listener, number, undecided
from ccmatic.records import (
    ABSENT,
    BoundLine,
    BoundsLine,
    CertifiedLine,
    CheckLine,
    ConstantLine,
    ExpectedLine,
    FindingLine,
    FrontLine,
    FrontPointLine,
    InvariantLine,
    LemmaLine,
    ProofLine,
    ShapeLine,
)

__all__ = [
    "Progress",
    "decided",
    "finding",
    "front_end",
    "front_point",
    "verdict",
]


class Progress(Listener):
    """The progress of a proof: lines and a status for people, or JSON lines. Lines mention `name`, if there is one."""

    def __init__(self, as_json, name=None, write=click.echo):
        self._as_json, self._name, self._write = as_json, name, write
        self._status = Console(stderr=True).status("")

    def __enter__(self):
        if not self._as_json:
            if self._write is click.echo:
                self._status.start()
            if self._name:
                self._write(f"{self._name}:")
        return self

    def __exit__(self, *_):
        self._status.stop()

    def begins(self, shape):
        if not self._as_json:
            self._write(f"by the shape {shape}:")

    def attempted(self, attempt):
        if attempt.proved:
            self.end(attempt.proved)
        solved, missing = list(attempt.result.constants), list(attempt.missing)
        text = f"{attempt.shape}: {shown_verdict(attempt.verdict)}"
        if missing:
            text += f", with {len(solved)} of {len(solved) + len(missing)} constants found"
        if attempt.why:
            text += f": {attempt.why}"
        self._say(ShapeLine(attempt.shape, attempt.verdict, solved, missing, attempt.why), text)

    def expected(self, question, shape, refused):
        """Report whether an expectation is proved by a shape.

        `refused` is the error that ended the search for an invariant, or None.
        """
        name, expectation = question.controller.name, question.text
        on = question.description.text
        verdict = "proved" if shape else "unknown"
        shown = shown_verdict(verdict, "holds" if shape else "unknown", 9)
        text = f"{name:<20} {shown} {expectation}, on {on}, "
        why = undecided(question.expectation) or "as no shape implies it"
        text += f"once it has converged, by the shape {shape}" if shape else f"{why}; `worst` finds edges"
        why = refused and refused.message
        lines = [text] + ([f"    by invariants: {why}"] if why else [])
        self._say(ExpectedLine(name, verdict, expectation, on, shape, why), "\n".join(lines))

    def decided(self, decided, file, carrier=None):
        """Report the outcome of the search for an invariant, and the file that shows it.

        `carrier` is the copy of an ONNX file whose metadata name the proof, or None.
        """
        question, proved = decided.question, decided.proved
        clauses = len(proved.invariant.clauses) if proved and proved.invariant else None
        name, on, claim = question.controller.name, question.description.text, decided.claim or question.expectation
        seconds = proved.seconds if proved else decided.seconds
        line = InvariantLine(
            name, decided.verdict, question.text, on, question.start, str(claim), round(seconds, 3), clauses,
            decided.period, file and str(file), decided.why, records.exclusions(decided.left_out),
            carrier and str(carrier),
        )  # fmt: skip
        means = {"proved": "holds", "refuted": "violated"}.get(decided.verdict, "unknown")
        for_ever = " for ever" if decided.verdict == "proved" and decided.claim else ""
        verdict = shown_verdict(decided.verdict, means, 9)
        text = f"{name:<20} {verdict} {question.text}{for_ever}, on {on}, {question.begins}"
        carried = [f"    the network with its proofs: {carrier}"] if carrier else []
        self._say(line, "\n".join([text, *_shown(decided, clauses, seconds, file), *carried]))

    def tries(self, text):
        self._status.update(text)

    def bound(self, bound, files):
        """Report a bound, and the files of its invariant and of the execution that refutes the next one, or None."""
        best, following = bound.proved, bound.following
        question = (best or following).question
        clauses = len(best.proved.invariant.clauses) if best else None
        name, on, (proved, refuted) = question.controller.name, question.description.text, files
        line = BoundLine(
            name, bound.subject, bound.within, on, question.start, best and best.question.text, clauses,
            proved and str(proved), following and following.question.text, following and following.verdict,
            following and following.period, refuted and str(refuted),
        )  # fmt: skip
        shown = f"{shown_verdict('proved', 'holds', 9)} {best.question.text}" if best else "no bound was proved"
        lines = [f"{name:<20} {shown}"] + ([f"    check it: ccmatic check {proved}"] if proved else [])
        if following:
            means = "violated" if following.verdict == "refuted" else "unknown"
            lines.append(f"{'':<20} {shown_verdict(following.verdict, means, 9)} {following.question.text}")
            lines += [f"    check it: ccmatic replay {refuted}"] if refuted else [f"    {following.why}"]
        self._say(line, "\n".join(lines))

    def bounds(self, name, bounds, figure):
        """Report the number of proved bounds, and the figure, or None."""
        proved = sum(bound.amount is not None for bound in bounds)
        text = f"{name}: {proved} of {len(bounds)} quantities have a proved bound; {figure or 'no figure'}"
        self._say(BoundsLine(True, name, len(bounds), proved, figure and str(figure)), text)

    def asks(self, lemma, values):
        """Show that the solver is deciding a lemma for these values of the constants."""
        at = ", ".join(f"{name} = {float(value):g}" for name, value in values.items())
        self._status.update(f"{lemma}{' at ' if at else ''}{at}")

    def constant(self, declared, result):
        """Report the value of a constant."""
        name, edge, dropped = declared.name, result.edge, declared.dropped(result.value)
        front = [list(pair) for pair in result.front]
        value = "none" if dropped else number(result.value)
        text = f"{name:<20} {value:<8} {declared.says}; the paper: {declared.paper}"
        if edge and not dropped:
            text += f"\n{'':<30}the next better value breaks '{edge.lemma}'"
        self._say(ConstantLine(name, result.value, declared.paper, front, edge and edge.lemma, dropped or ABSENT), text)

    def lemma(self, answer):
        """Report the verdict on one lemma."""
        self._say(
            LemmaLine(answer.lemma, answer.verdict, round(answer.seconds, 3), answer.empty or ABSENT),
            f"{shown_verdict(answer.verdict, width=9)} {answer.seconds:6.1f} s  "
            f"{answer.lemma}{OF_NONE if answer.empty else ''}",
        )

    def certificate(self, name):
        self._say(CertifiedLine(name), f"certified            {name}")

    def end(self, proved):
        file, claim, holds = proved.file, list(proved.claim), proved.verdict == HOLDS
        claims = [*claim] if holds else [*proved.faults, f"no proof: {proved.why or 'not every lemma holds'}"]
        claims += left_out_lines(proved.left_out)
        report = file and file.with_suffix(".md")
        claims += ["", f"written: {file}{f' and {report.name}' if report.exists() else ''}"] if file else []
        left = records.exclusions(proved.left_out)
        line = ProofLine(True, holds, list(proved.faults), claim, file and str(file), left)
        self._say(line, "\n".join(["", *claims]))

    def _say(self, record, text):
        if self._as_json and self._name:
            record = replace(record, controller=self._name)
        self._write(records.line(record) if self._as_json else text)


def _shown(decided, clauses, seconds, file):
    claim = decided.claim
    if claim and claim.within is not None and decided.verdict == "proved":
        yield f"    each interval of t steps serves at least {claim.amount}·t - {claim.within} C·step"
    if clauses:
        yield f"    by an invariant of {counted(clauses, 'clause')}, found in {seconds:.1f} s"
    if clauses or decided.first:
        yield f"    check it: ccmatic check {file}"
    elif decided.trace is not None:
        steps = "each step" if decided.period == 1 else f"every {decided.period} steps"
        yield f"    an execution {f'repeats after {steps}, for ever' if decided.period else 'breaks it'}"
        yield f"    check it: ccmatic replay {file}"
    else:
        yield f"    {decided.why}"
    yield from left_out_lines(decided.left_out)


def finding(result, as_json):
    if as_json:
        return records.line(FindingLine(**asdict(result)))
    mark, means = "ok" if result.checked else "not checked", "holds" if result.checked else "unknown"
    if result.unknown or result.fault:
        mark, means = ("unknown", "unknown") if result.unknown else ("FAULT", "violated")
    return f"{shown_verdict(mark, means, 11)} {result.about}: {result.fault or result.how}"


def verdict(file, verdict, as_json):
    if as_json:
        return records.line(CheckLine(True, str(file), verdict == "accepted", verdict))
    means = {"accepted": "holds", "rejected": "violated"}.get(verdict, "unknown")
    return f"{file}: {shown_verdict(verdict, means)}"


def front_point(point, dominated_by, as_json):
    """Return the line that `front` prints for a controller.

    `dominated_by` has the controllers that dominate this one; None if no shape proves the controller.
    """
    if as_json:
        about = {"controller": point.name, "source": point.source, "shape": point.shape, "verdict": point.verdict}
        about |= {"result": point.file, "measures": point.measures, "dominated_by": dominated_by, "why": point.why}
        return records.line(FrontPointLine(**about))
    if dominated_by is None:
        return f"{point.name:<20} {decided(point)}"
    place = f"dominated by {', '.join(dominated_by)}" if dominated_by else "on the front"
    return f"{point.name:<20} {decided(point)}  {place}  {point.file}"


def decided(point):
    """Return what is known of a controller's proof before the front, that is, what dominates it, is known."""
    if point.verdict != HOLDS:
        return f"{point.verdict}: {point.why or point.file}"
    return "  ".join(f"{name} {float(value):g}" for name, value in point.measures.items())


def front_end(points, dominated, figure, as_json):
    best = [name for name, others in dominated.items() if not others]
    if as_json:
        file = None if figure is None else str(figure)
        return records.line(FrontLine(True, len(points), len(dominated), best, file))
    if not points:
        return "no controller of this template is a solution"
    if not best:
        return f"no shape proves any of the {counted(len(points), 'controller')}"
    shares = f"{len(best)} of {len(dominated)} proved controllers ({counted(len(points), 'controller')} in all)"
    return f"{shares} are on the front: {', '.join(best)}; {figure}"
