"""What `prove` and `check` print, and the report of a proof: constants, lemmas, the claim in words, the diagram."""

import json
from dataclasses import asdict
from fractions import Fraction
from itertools import pairwise

import click
from rich.console import Console

from ccmatic.base import write_text
from ccmatic.proving.claim import CHANGES, sentences, windows_after
from ccmatic.proving.diagram import draw
from ccmatic.verification import HOLDS

#: Said of a lemma whose premise is true of no window.
OF_NONE = " (no window is so)"


class Progress:
    """Lines for people, and what is being asked, or JSON lines, as a proof goes on."""

    def __init__(self, proof, as_json):
        self._constants = {constant.name: constant for constant in proof.constants}
        self._as_json = as_json
        self._status = Console(stderr=True).status("")

    def __enter__(self):
        if not self._as_json:
            self._status.start()
        return self

    def __exit__(self, *_):
        self._status.stop()

    def asks(self, lemma, values):
        """A lemma is being asked for values of the constants that it reads."""
        at = ", ".join(f"{name} = {float(value):g}" for name, value in values.items())
        self._status.update(f"{lemma}{' at ' if at else ''}{at}")

    def constant(self, name, found):
        """A constant was found."""
        declared, edge = self._constants[name], found.edge
        self._say(
            {
                "constant": name,
                "value": str(found.value),
                "paper": declared.paper,
                "front": [[str(other), best and str(best)] for other, best in found.front],
                "limited_by": edge and edge.lemma,
            },
            f"{name:<20} {_number(found.value):<8} {declared.says}; the paper: {declared.paper}"
            + (f"\n{'':<30}one better breaks '{edge.lemma}'" if edge else ""),
        )

    def lemma(self, answer):
        """A lemma was decided."""
        empty = {"empty": True} if answer.empty else {}
        self._say(
            {"lemma": answer.lemma, "verdict": answer.verdict, "seconds": round(answer.seconds, 3), **empty},
            f"{answer.verdict:<9} {answer.seconds:6.1f} s  {answer.lemma}{OF_NONE if empty else ''}",
        )

    def certificate(self, name):
        """A lemma has been certified."""
        self._say({"certified": name}, f"certified            {name}")

    def end(self, result, prover, faults):
        """The proof is over."""
        claim = list(sentences(prover.proof, result.horizon, result.values))
        proved = not faults and all(
            result.answers[name].verdict == HOLDS for name, lemma in prover.lemmas.items() if not lemma.paper
        )
        text = "\n".join(
            [
                "",
                *(claim if proved else [*faults, "no proof: not every lemma holds"]),
                "",
                f"written: {result.file} and {result.file.with_suffix('.md').name}",
            ]
        )
        summary = {"summary": True, "proved": proved, "faults": faults, "claim": claim, "result": str(result.file)}
        self._say(summary, text)

    def _say(self, data, text):
        click.echo(json.dumps(data, ensure_ascii=False) if self._as_json else text)


def finding(found, as_json):
    """A line of `check`."""
    if as_json:
        return json.dumps(asdict(found), ensure_ascii=False)
    mark = "unknown" if found.unknown else "FAULT" if found.fault else "ok" if found.checked else "not checked"
    return f"{mark:<11} {found.about}: {found.fault or found.how}"


def verdict(file, verdict, as_json):
    """The last line of `check`; verdict: accepted, rejected or unknown."""
    if as_json:
        return json.dumps({"summary": True, "proof": str(file), "accepted": verdict == "accepted", "verdict": verdict})
    return f"{file}: {verdict}"


def write_report(result, prover):
    """Write the report beside the result: Markdown, and the diagram as SVG."""
    picture = result.file.with_suffix(".svg")
    draw(prover.proof, result, picture)
    write_text(result.file.with_suffix(".md"), "\n".join(_report(result, prover, picture.name)) + "\n")


def _report(result, prover, picture):
    proof, values = prover.proof, result.values
    yield f"# {result.controller.name}: {result.file.stem}"
    yield ""
    yield f"Made by `ccmatic prove {result.controller.name} --proof {result.proof} --horizon {result.horizon}`."
    yield f"Network: {prover.query.model.name}, buffer {prover.query.buffer} (in C·R_m), D = {prover.query.jitter} R_m,"
    yield f"windows of {result.horizon - 1} R_m. Check it anew: `ccmatic check {result.file.name}`."
    yield ""
    yield "```python\n" + result.controller.source.strip() + "\n```"
    yield ""
    yield f"![states and transitions]({picture})"
    yield "\n## What is proved\n"
    yield from (f"- {sentence}" for sentence in sentences(proof, result.horizon, values))
    yield from _after_changes(proof, result.horizon, values)
    yield "\n## Constants\n"
    yield "| constant | here | the paper | meaning | one step better breaks |"
    yield "|---|---|---|---|---|"
    for constant in proof.constants:
        found = result.constants[constant.name]
        edge = found.edge.lemma if found.edge else "chosen" if constant.at is not None else "end of the range"
        yield f"| `{constant.name}` | {_number(found.value)} | {constant.paper} | {constant.says} | {edge} |"
    yield from _fronts(proof, result)
    yield "\n## Lemmas\n"
    yield "| lemma | verdict | s |"
    yield "|---|---|---|"
    for name, answer in result.answers.items():
        about = (" (the paper's)" if prover.lemmas[name].paper else "") + (OF_NONE if answer.empty else "")
        yield f"| {name}{about} | {answer.verdict} | {answer.seconds:.1f} |"
    yield ""
    yield f"A lemma that is violated has its window in `{result.traces.name}/`, as has the edge of each constant:"
    yield "`ccmatic replay FILE --plot PICTURE.png`."


def _after_changes(proof, horizon, values):
    """Numbers, where the definition says how far a change of the link rate throws each measure."""
    rows = []
    for state in proof.states:
        if state.leads_to and state.measures and all(measure.after for measure in state.measures):
            counts = [windows_after(state, factor, values) for factor in CHANGES]
            rows.append(f"| {state.name} | " + " | ".join(f"{n} ({n * (horizon - 1)} R_m)" for n in counts) + " |")
    if rows:
        yield "\nIf the link rate changes in the steady state by a factor of at most x,"
        yield "windows (time) in each state at most,"
        yield "counted as above, from the first that begins after the change:\n"
        yield "| state | " + " | ".join(f"x = {_number(factor)}" for factor in CHANGES) + " |"
        yield "|---|" + "---|" * len(CHANGES)
        yield from rows


def _fronts(proof, result):
    constants = list(proof.constants)
    for before, constant in pairwise(constants):
        found = result.constants[constant.name]
        if found.front:
            yield f"\n`{before.name}` trades off with `{constant.name}`:\n"
            yield f"| `{before.name}` | `{constant.name}` |\n|---|---|"
            points = [*found.front, (result.values[before.name], found.value)]
            for other, best in sorted(points):
                yield f"| {_number(other)} | {'none in its range' if best is None else _number(best)} |"


def _number(value):
    """Exact if short, else also as a decimal."""
    value = Fraction(value)
    return str(value) if value.denominator == 1 else f"{value} ({float(value):.4g})"
