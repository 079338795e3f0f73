"""The report of a proof: constants, lemmas, the claim in words, the diagram."""

from fractions import Fraction
from itertools import pairwise

from ccmatic.base import write_text
from ccmatic.proving.claim import CHANGES, sentences, stays, windows_after
from ccmatic.proving.diagram import draw

#: Under what all of it is proved, beside the network.
CONDITIONS = """\
Of one flow, which always has something to send, alone on a link of this network whose rate {stays}. Nothing is said of
several flows, of a buffer that is not of this network, or of more jitter.
"""

#: Said of a lemma whose premise is true of no window.
OF_NONE = " (no window is so)"


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
    yield f"windows of {result.horizon - proof.common} R_m. Check it anew: `ccmatic check {result.file.name}`."
    yield ""
    yield "```python\n" + result.controller.source.strip() + "\n```"
    yield ""
    yield f"![states and transitions]({picture})"
    yield "\n## What is proved\n"
    yield CONDITIONS.format(stays=stays(prover.query.model))
    yield from (f"Left out: {exclusion}.\n" for exclusion in prover.left_out)
    yield from (f"- {sentence}" for sentence in sentences(proof, prover.query.model, result.horizon, values))
    yield from _after_changes(proof, result.horizon - proof.common, values)
    yield "\n## Constants\n"
    yield "| constant | here | the paper | meaning | one step better breaks |"
    yield "|---|---|---|---|---|"
    for constant in proof.constants:
        optimum = result.constants[constant.name]
        edge = optimum.edge.lemma if optimum.edge else "chosen" if constant.at is not None else "end of the range"
        value = "none" if constant.dropped(optimum.value) else number(optimum.value)
        yield f"| `{constant.name}` | {value} | {constant.paper} | {constant.says} | {edge} |"
    yield from _fronts(proof, result)
    yield "\n## Lemmas\n"
    yield "| lemma | verdict | s |"
    yield "|---|---|---|"
    for name, answer in result.answers.items():
        about = (" (no part of the proof)" if prover.lemmas[name].paper else "") + (OF_NONE if answer.empty else "")
        yield f"| {name}{about} | {answer.verdict} | {answer.seconds:.1f} |"
    yield ""
    yield f"A lemma that is violated has its window in `{result.traces.name}/`, as has the edge of each constant:"
    yield "`ccmatic replay FILE --plot PICTURE.png`."


def _after_changes(proof, length, values):
    """Numbers, where the definition says how far a change of the link rate throws each measure."""
    rows = []
    for state in proof.states:
        if state.leads_to and state.measures and windows_after(state, CHANGES[0], values) is not None:
            counts = [windows_after(state, factor, values) for factor in CHANGES]
            rows.append(f"| {state.name} | " + " | ".join(f"{n} ({n * length} R_m)" for n in counts) + " |")
    if rows:
        yield "\nIf the link rate changes in the steady state by a factor of at most x,"
        yield "windows (time) in each state at most,"
        yield "counted as above, from the first that begins after the change:\n"
        yield "| state | " + " | ".join(f"x = {number(factor)}" for factor in CHANGES) + " |"
        yield "|---|" + "---|" * len(CHANGES)
        yield from rows


def _fronts(proof, result):
    constants = list(proof.constants)
    for before, constant in pairwise(constants):
        optimum = result.constants[constant.name]
        if optimum.front:
            yield f"\n`{before.name}` trades off with `{constant.name}`:\n"
            yield f"| `{before.name}` | `{constant.name}` |\n|---|---|"
            points = [*optimum.front, (result.values[before.name], optimum.value)]
            for other, best in sorted(points):
                yield f"| {number(other)} | {'none in its range' if best is None else number(best)} |"


def number(value):
    """Exact if short, else also as a decimal."""
    value = Fraction(value)
    return str(value) if value.denominator == 1 else f"{value} ({float(value):.4g})"
