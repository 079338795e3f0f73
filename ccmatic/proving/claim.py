"""The claim of a proof about all time, which follows from the proof's lemmas: in words, and as numbers of windows."""

from fractions import Fraction
from string import Formatter

from ccmatic.contracts import RecordingDict

#: Factors of changes of the link rate, for which the report gives numbers.
CHANGES = (Fraction(3, 2), Fraction(2), Fraction(4), Fraction(10))


def steps(factor, ratio):
    """Return ⌊log ratio⌋ to the base `factor`: the number of steps by a factor > 1 within a growth by a ratio ≥ 1."""
    count, reached = 0, factor
    while reached <= ratio:
        count, reached = count + 1, reached * factor
    return count


def windows(state, c):
    """Return a formula, as text, for the largest number of windows that can begin in a given State.

    The number does not count windows that meet the state's `unless`. If the measures are ordered, each measure except
    the first may restart at its worst value whenever an earlier measure improves.
    """
    if not state.leads_to:
        return None
    terms = []
    for measure in state.measures:
        by = _short(c[measure.by])
        if measure.unit:
            way = measure.name if measure.limit_says == "0" else f"|{measure.name} - {measure.limit_says}|"
            terms.append(f"⌊{_atom(way)} / ({by}·{measure.unit_says})⌋")
        else:
            start, limit = measure.name, f"({measure.limit_says})" if "/" in measure.limit_says else measure.limit_says
            terms.append(f"⌊log_{by}({start}/{limit})⌋" if measure.falls else f"⌊log_{by}({limit}/{start})⌋")
    if state.ordered:
        return "·".join(f"(1 + {term})" for term in terms)
    return " + ".join(["1", *terms])


def windows_after(state, factor, c):
    """Return the number of `windows` right after the link rate changes by a factor of at least 1, up or down.

    It is None if the proof does not bound the effect of the change on each measure, or if the measures are ordered:
    then the proof does not bound the value at which a measure restarts.
    """
    if state.ordered or not all(measure.after for measure in state.measures):
        return None
    total = 1
    for measure in state.measures:
        worst = Fraction(measure.after(factor, RecordingDict(c)))
        total += int(worst // c[measure.by]) if measure.unit else steps(c[measure.by], max(worst, Fraction(1)))
    return total


def stays(model):
    """Return a description of the changes of the link rate under which a claim holds."""
    return "stays constant" if model.variation == 1 else f"stays between C and {_short(model.variation)}·C"


def sentences(proof, model, horizon, c):
    """Yield the claim, as one text per state, and then what follows from the lemmas."""
    length = f"{horizon - proof.common} R_m"
    for state in proof.states:
        ensured = _listed("; ".join(filter(None, (in_words(each, proof, c) for each in state.ensures))).split("; "))
        condition = in_words(state, proof, c) or "without conditions"
        if state.leads_to:
            count = windows(state, c)
            begin = (
                f"{count} {'window' if count == '1' else 'windows'} of {length} {'begins' if count == '1' else 'begin'}"
            )
            says = f"State '{state.name}' means {condition}. At most {begin} in this state."
            yield " ".join([says, *_remarks(state, proof, c, ensured)])
        else:
            meets = f" In each window of this state, {ensured}." if ensured else ""
            yield f"State '{state.name}' ({condition}) lasts for ever if the link rate {stays(model)}.{meets}"
    if proof.follows:
        yield from (corollary.says for corollary in proof.follows(c, horizon, proof.jitter))


def _remarks(state, proof, c, ensured):
    """Yield further sentences of a claim about a state.

    They follow the sentence with the number of windows in the state.
    """
    excuse = " and ".join(in_words(objective, proof, c) for objective in state.unless)
    if excuse:
        yield f"This number does not count windows in which {excuse}."
    again = [measure.name for measure in state.measures[1:]] if state.ordered else []
    if again:
        first, after = state.measures[0].name, " and ".join(again)
        yield f"The number covers the worst case: when {first} improves, {after} may fall back as far as possible."
    names = [f"'{name}'" for name in state.leads_to]
    yield f"The next state is {_listed(names, 'or')}."
    if ensured:
        yield f"In each window of state '{state.name}', {ensured}."


def in_words(what, proof, c):
    """Return the words of a State or an Objective, with the values of the proof's constants inserted.

    The function omits phrases between semicolons that mention a dropped constant, because such a constant stands for no
    bound.
    """
    dropped = {constant.name for constant in proof.constants if constant.dropped(c[constant.name])}
    parts = what.says.split("; ")
    kept = [part for part in parts if not dropped & {name for _, name, _, _ in Formatter().parse(part)}]
    return "; ".join(kept).format_map({name: _short(value) for name, value in c.items()})


def _listed(words, last="and"):
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def _atom(formula):
    """Return a formula in parentheses if it is a sum, unless bars already enclose it."""
    return f"({formula})" if " " in formula and not formula.startswith("|") else formula


def _short(number):
    return f"{float(number):g}"
