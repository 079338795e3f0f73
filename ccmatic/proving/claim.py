"""What the lemmas, stitched, say of all time: in words, and as numbers of windows."""

from fractions import Fraction

from ccmatic.contracts import Reads

#: Changes of the link rate for which the report gives numbers.
CHANGES = (Fraction(3, 2), Fraction(2), Fraction(4), Fraction(10))


def steps(factor, ratio):
    """How often a number can be multiplied by factor > 1 before it has grown by more than ratio ≥ 1: ⌊log ratio⌋."""
    count, reached = 0, factor
    while reached <= ratio:
        count, reached = count + 1, reached * factor
    return count


def windows(state, c):
    """A formula, as text, for the most windows that can begin in a State, not counting those that meet its `unless`;
    None for a state that leads nowhere else. Of ordered measures all but the first may begin again whenever one before
    them improves, from as far as they come. c: constants by name."""
    if not state.leads_to:
        return None
    terms = []
    for measure in state.measures:
        by = _short(c[measure.by])
        if measure.unit:
            way = measure.name if measure.limit_says == "0" else f"|{measure.name} - {measure.limit_says}|"
            terms.append(f"⌊{way} / ({by}·{measure.unit_says})⌋")
        else:
            start, limit = measure.name, f"({measure.limit_says})" if "/" in measure.limit_says else measure.limit_says
            terms.append(f"⌊log_{by}({start}/{limit})⌋" if measure.falls else f"⌊log_{by}({limit}/{start})⌋")
    if state.ordered:
        return "·".join(f"(1 + {term})" for term in terms)
    return " + ".join(["1", *terms])


def windows_after(state, factor, c):
    """The same as a number, right after the link rate changed by `factor`, up or down; None where the proof does not
    say how far that throws each measure, or how far one comes that may begin again."""
    if state.ordered or not all(measure.after for measure in state.measures):
        return None
    total = 1
    for measure in state.measures:
        worst = Fraction(measure.after(factor, Reads(c)))
        total += int(worst // c[measure.by]) if measure.unit else steps(c[measure.by], max(worst, Fraction(1)))
    return total


def stays(model):
    """What the link's rate does for as long as a claim holds, in words."""
    return "stays" if model.variation == 1 else f"stays between C and {_short(model.variation)}·C"


def sentences(proof, model, horizon, c):
    """The claim, a sentence for each state. model: the network's. horizon: steps of a window, T. c: constants by
    name."""
    length = f"{horizon - proof.common} R_m"
    for state in proof.states:
        says = in_words(state, proof, c)
        ensured = "; ".join(in_words(objective, proof, c) for objective in state.ensures)
        if not state.leads_to:
            meets = f": {ensured}" if ensured else ""
            yield f"From '{state.name}' on ({says}), for ever while the link rate {stays(model)}{meets}."
            continue
        excuse = " and ".join(in_words(objective, proof, c) for objective in state.unless)
        counted = f", those not counted in which {excuse}" if excuse else ""
        meanwhile = f" Meanwhile: {ensured}." if ensured else ""
        again = [measure.name for measure in state.measures[1:]] if state.ordered else []
        counted += f", with {' and '.join(again)} as far from its limit as it comes" if again else ""
        yield (
            f"In '{state.name}' ({says}) at most {windows(state, c)} windows of {length} begin{counted}; "
            f"then: {' or '.join(state.leads_to)}.{meanwhile}"
        )


def in_words(what, proof, c):
    """What a State or an Objective says, with the values of the proof's constants; one that is dropped is ∞."""
    dropped = {constant.name for constant in proof.constants if constant.dropped(c[constant.name])}
    return what.says.format_map({name: "∞" if name in dropped else _short(value) for name, value in c.items()})


def _short(number):
    return f"{float(number):g}"
