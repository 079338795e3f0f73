"""The diagram of a proof: its states, the transitions between them, and the progress of each window."""

from ccmatic.networks import traces
from ccmatic.proving.claim import in_words

BOX, STEP, TOP = 4.6, 1.5, 0.7


def draw(proof, result, file):
    height = STEP * len(proof.states)
    with traces.figure(file, (9, height), layout=None) as figure:
        axes = figure.add_axes((0, 0, 1, 1), xlim=(0, 9), ylim=(-height, 0), frameon=False, xticks=(), yticks=())
        centres = {state.name: -TOP - index * STEP for index, state in enumerate(proof.states)}
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
