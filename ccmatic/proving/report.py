"""The report of a proof: its constants, its lemmas, the claim in words, and the diagram."""

from fractions import Fraction
from itertools import pairwise

from ccmatic.base import write_text
from ccmatic.contracts import EXCLUSIONS
from ccmatic.networks import traces
from ccmatic.proving.claim import CHANGES, in_words, sentences, stays, windows_after

#: The assumptions of every proof, apart from the laws of the network.
CONDITIONS = """\
The proof covers {flows} on this network. {each} always has data to send, and shares the link with no other flow. The
link rate {stays}. The proof does not cover {others}, other buffers, or more jitter.

{step}
C is the link rate, D is the jitter, and T is the length of a window. β is the size of the buffer, and MSS is the size
of a packet. ⌊x⌋ is x rounded down, and log_b is the logarithm to base b. The glossary (docs/reference/glossary.md)
explains the sender's bounds on the link rate and on the queue, such as C_L and q_U.
"""

#: The meaning of R_m in reports about senders with a window, and about senders with beliefs at a rate.
R_M = "R_m is the round-trip time without a queue."
STEP = """\
R_m is a step of the model. The section "Units" of docs/reference/guarantees.md explains how long a step lasts on a
path."""

#: The remark on a lemma whose premise no window satisfies.
OF_NONE = " (no window satisfies the premise)"


def write_report(result, prover):
    picture = result.file.with_suffix(".svg")
    draw(prover.proof, result, picture)
    write_text(result.file.with_suffix(".md"), "\n".join(_report(result, prover, picture.name)) + "\n")


def _report(result, prover, picture):
    proof, values = prover.proof, result.values
    yield f"# {result.controller.name}: {result.file.stem}"
    yield ""
    command = f"ccmatic prove {result.controller.name} --proof {result.proof} --horizon {result.horizon}"
    yield f"The command `{command}` made this proof."
    yield f"The network is the model `{prover.query.network.model_name}`."
    yield f"Its buffer is `{prover.query.buffer}` (in C·R_m), and its jitter D is {prover.query.jitter} R_m."
    yield f"Each window of the proof lasts {result.horizon - proof.common} R_m."
    yield f"To check the proof, run `ccmatic check {result.file.name}`."
    yield ""
    yield "```python\n" + result.controller.source.strip() + "\n```"
    yield ""
    yield f"![states and transitions]({picture})"
    yield "\n## What is proved\n"
    yield conditions(prover.query.model)
    yield from (f"The proof leaves out {EXCLUSIONS[each.name]}: {each.reason}.\n" for each in prover.left_out)
    yield from (f"- {sentence}" for sentence in sentences(proof, prover.query.model, result.horizon, values))
    yield from _after_changes(proof, result.horizon - proof.common, values)
    yield "\n## Constants\n"
    yield "| constant | value here | value in the paper | meaning | lemma that the next better value breaks |"
    yield "|---|---|---|---|---|"
    for constant in proof.constants:
        optimum = result.constants[constant.name]
        edge = optimum.edge.lemma if optimum.edge else "chosen" if constant.at is not None else "end of the range"
        value = "none" if constant.dropped(optimum.value) else number(optimum.value)
        yield f"| `{constant.name}` | {value} | {constant.paper} | {constant.says} | {edge} |"
    yield from _fronts(proof, result)
    yield "\n## Lemmas\n"
    yield "| lemma | verdict | seconds |"
    yield "|---|---|---|"
    for name, answer in result.answers.items():
        about = (" (not part of the proof)" if prover.lemmas[name].paper else "") + (OF_NONE if answer.empty else "")
        yield f"| {name}{about} | {answer.verdict} | {answer.seconds:.1f} |"
    yield ""
    yield f"`ccmatic prove` writes windows as traces into the folder `{result.traces.name}/`."
    yield "Each of these windows violates a lemma, or shows that a constant cannot be better."
    yield "If the folder is missing, `ccmatic check` finds the windows again."
    yield "To draw one of these windows, run `ccmatic replay FILE --plot PICTURE.png`."


def conditions(model):
    """Return the assumptions of a proof on a model, and the meaning of the report's symbols."""
    step = R_M if model.windows else STEP
    return CONDITIONS.format(stays=stays(model), step=step, **_flows(getattr(model, "flows", 1)))


def _flows(number):
    if number == 1:
        return {"flows": "one flow", "each": "The flow", "others": "several flows"}
    return {"flows": f"{number} flows", "each": "Each flow", "others": "other numbers of flows"}


def _after_changes(proof, length, values):
    """Yield a table of changes of the link rate, if the proof bounds the effect of such changes on each measure."""
    rows = []
    for state in proof.states:
        if state.leads_to and state.measures and windows_after(state, CHANGES[0], values) is not None:
            counts = [windows_after(state, factor, values) for factor in CHANGES]
            rows.append(f"| {state.name} | " + " | ".join(f"{n} ({n * length} R_m)" for n in counts) + " |")
    if rows:
        yield "\nSuppose that the link rate changes in the steady state by a factor of at most x."
        yield "For each state, the table has the largest number of windows that begin in this state after the change."
        yield "The number in parentheses is the total time of these windows."
        yield "If the list above does not count a window, the table does not count it either.\n"
        yield "| state | " + " | ".join(f"x = {number(factor)}" for factor in CHANGES) + " |"
        yield "|---|" + "---|" * len(CHANGES)
        yield from rows


def _fronts(proof, result):
    constants = list(proof.constants)
    for before, constant in pairwise(constants):
        optimum = result.constants[constant.name]
        if optimum.front:
            yield f"\nThe table has the best value of `{constant.name}` for each value of `{before.name}`:\n"
            yield f"| `{before.name}` | `{constant.name}` |\n|---|---|"
            points = [*optimum.front, (result.values[before.name], optimum.value)]
            for other, best in sorted(points):
                yield f"| {number(other)} | {'none in its range' if best is None else number(best)} |"


def number(value):
    """Return a number as an exact fraction, followed by a decimal value unless the number is an integer."""
    value = Fraction(value)
    return str(value) if value.denominator == 1 else f"{value} ({float(value):.4g})"


BOX, ROW, TOP = 4.6, 1.5, 0.7


def draw(proof, result, file):
    height = ROW * len(proof.states)
    with traces.figure(file, (9, height), layout=None) as figure:
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 9), ylim=(-height, 0), frameon=False, xticks=(), yticks=())
        centres = {state.name: -TOP - index * ROW for index, state in enumerate(proof.states)}
        for state in proof.states:
            _state(axes, state, proof, centres[state.name], result.values)
        for state in proof.states:
            for lane, name in enumerate(state.leads_to):
                _arrow(axes, centres[state.name], centres[name], lane)


def _state(axes, state, proof, y, c):
    lines = filter(None, (in_words(each, proof, c) for each in (state, *state.ensures)))
    axes.text(0.5, y + 0.28, state.name, weight="bold", va="center")
    axes.text(0.5, y - 0.08, "\n".join(lines), va="center", fontsize=8)
    axes.add_patch(_box(0.3, y - 0.5, BOX, 1.0))
    if state.measures:
        steps = [_step(measure, c) for measure in state.measures]
        excuse = " and ".join(in_words(objective, proof, c) for objective in state.unless)
        axes.text(
            0.5,
            y - 0.42,
            "each window: " + " or ".join(steps) + (f", or {excuse}" if excuse else ""),
            fontsize=7,
            va="bottom",
            color="#0072B2",
        )


def _step(measure, c):
    by = f"{float(c[measure.by]):.3g}"
    sign = ("−" if measure.falls else "+") if measure.unit else ("÷" if measure.falls else "×")
    return f"{measure.name} {sign} {by}"


def _box(x, y, width, height):
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0.08", fill=False, edgecolor="#666666")


def _arrow(axes, start, end, lane):
    bend = 0.35 * (start - end)
    axes.annotate(
        "",
        (0.4 + BOX, end),
        (0.4 + BOX, start - 0.1 * lane),
        arrowprops={
            "arrowstyle": "-|>",
            "color": "#009E73",
            "connectionstyle": f"arc3,rad={-0.5 if bend < 1 else -0.35}",
        },
    )
