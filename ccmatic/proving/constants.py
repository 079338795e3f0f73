"""The search for the edge of each constant of a proof: at the next better value, a window breaks a lemma."""

from dataclasses import replace

from ccmatic.answers.verification import HOLDS, UNDECIDED, VIOLATED
from ccmatic.base import InputError, OutOfTime, last_good, last_good_from_above
from ccmatic.proving.lemma_prover import NoValue, Optimum


def search(prover, result, earlier=(), listener=None):
    """Find the constants that a result lacks, each to its edge, and save each. Tell a Listener, if there is one.

    `earlier` has the constants of similar proofs, each with a value, and the lemma that failed at the next better
    value. The search starts at the value in the proof whose other constants agree most.
    """
    for constant in _found(prover, result.constants, earlier):
        result.save()
        if listener:
            listener.constant(constant, result.constants[constant.name])


def decide(prover, result, listener=None):
    """Decide every lemma that a result lacks, save each answer, and return the verdict on all lemmas of the proof.

    The lemmas for comparison only are decided, too.
    """
    for lemma in prover.lemmas.values():
        if lemma.name not in result.answers or result.answers[lemma.name].verdict == UNDECIDED:
            answer = prover.confirm(prover.ask(lemma, result.values), result.values)
            result.answers[answer.lemma] = answer
            result.save()
            if listener:
                listener.lemma(answer)
    required = {result.answers[name].verdict for name, lemma in prover.lemmas.items() if not lemma.paper}
    return VIOLATED if VIOLATED in required else HOLDS if required == {HOLDS} else UNDECIDED


def _found(prover, optima, earlier):
    before = None
    for constant in prover.proof.constants:
        together = prover.proof.joined_with(constant)
        if constant.name not in optima:
            values = {name: optimum.value for name, optimum in optima.items()}
            limits = prover.limits(constant)
            if constant.at is not None:
                optima[constant.name] = Optimum(constant.at)
            elif len(together) > 1:
                optima |= _together(prover, together, values)
            elif not limits:
                raise InputError(f"no lemma limits the constant '{constant.name}' when those before it are known")
            else:
                front = _front(prover, constant, limits, values, before)
                optimum = _edge(prover, constant, limits, values, _guess(earlier, constant.name, values))
                optima[constant.name] = replace(optimum, front=tuple(front))
            yield from together
        before = constant


def _guess(earlier, name, values):
    """Return a constant's value, and the lemma at its edge, from the most similar earlier proof; or None."""
    proofs = [proof for proof in earlier if name in proof]
    alike = max(
        proofs, key=lambda proof: sum(proof.get(each, [])[:1] == (values[each],) for each in values), default={}
    )
    return alike.get(name)


def _front(prover, constant, limits, values, before):
    """Yield each value in the front of the preceding constant, together with this constant's best value for it."""
    for other in before.front if before else ():
        try:
            yield other, _edge(prover, constant, limits, {**values, before.name: other}).value
        except InputError:
            yield other, None


def _together(prover, constants, values):
    """Return the Optimum of each constant in a group of constants that limit each other.

    The search starts at the best value of each range. While a window breaks a lemma, the search weakens each constant
    by as little as this window requires. The result is the best of all values that work, under two conditions. First,
    each constant bounds its quantity. Second, if lemmas assume bounds at the start of a window, they also ensure these
    bounds at its end. The function `_beside` checks that no single constant can be better.
    """
    limits = list(dict.fromkeys(lemma for constant in constants for lemma in prover.limits(constant)))
    best = {constant.name: constant.grid()[-1] for constant in constants}
    while fault := prover.first_fault(limits, {**values, **best}):
        if fault.verdict == UNDECIDED:
            raise OutOfTime(f"no answer in time on '{fault.lemma}' for {best}")
        best = _weakened(prover, constants, values, best, fault)
        if all(constant.dropped(best[constant.name]) for constant in constants):
            raise NoValue(f"no bound is kept: the last breaks '{fault.lemma}'", constants[0].name, fault.trace)
    return {constant.name: _beside(prover, constant, limits, {**values, **best}) for constant in constants}


def _weakened(prover, constants, values, best_values, fault):
    """Return the best values at which the window of `fault` no longer breaks its lemma.

    No returned value is better than the value in `best_values`. While the function weakens one constant, the other
    constants have their loosest values.
    """
    loosest = {**values, **{constant.name: constant.grid()[0] for constant in constants}}

    def best(name, grid):
        good = last_good(len(grid), lambda index: prover.admits(fault, {**loosest, name: grid[index]}))
        return grid[max(good, 0)]

    weakened = {}
    for constant in constants:
        grid = constant.grid()
        weakened[constant.name] = best(constant.name, grid[: grid.index(best_values[constant.name]) + 1])
    if weakened == best_values or not prover.admits(fault, {**values, **weakened}):
        assignment = ", ".join(f"{name} = {value}" for name, value in weakened.items())
        message = f"no values work for {', '.join(best_values)}: at {assignment}, '{fault.lemma}' is {fault.verdict}"
        raise NoValue(message, constants[0].name, fault.trace)
    return weakened


def _beside(prover, constant, limits, values):
    """Return the Optimum of a constant while the other constants keep their values."""
    grid = constant.grid()
    better = grid[grid.index(values[constant.name]) + 1 :][:1]
    edge = prover.first_fault(limits, {**values, constant.name: better[0]}) if better else None
    if better and edge is None:
        message = f"'{constant.name}' also works at {better[0]}, but the search found {values[constant.name]}"
        raise InputError(f"{message}; expected joined constants whose looser values assume no more than tighter ones")
    return Optimum(values[constant.name], edge)


def _edge(prover, constant, limits, values, guess=None):
    """Return the best value of a constant at which every lemma holds, and the lemma that fails beyond it.

    To save time, the search checks better values only against lemmas that have already failed. It checks the result
    against all lemmas. `guess` is a value, and the lemma that is checked first at the next better value.
    """
    value, suspect = guess or (None, None)
    grid, suspects, faults = constant.grid(), [lemma for lemma in limits if lemma.name == suspect], {}
    bad = len(grid)

    def holds(index, lemmas=suspects):
        faults[index] = prover.first_fault(lemmas, {**values, constant.name: grid[index]})
        if faults[index] and lemmas is limits:
            suspects.append(prover.lemmas[faults[index].lemma])
        return faults[index] is None

    def fails(index):
        return prover.known_to_fail(limits, {**values, constant.name: grid[index]})

    if value in grid[:-1] and not holds(grid.index(value) + 1, suspects or limits):
        bad = grid.index(value) + 1
    while (good := last_good_from_above(bad, holds, fails)) >= 0 and not holds(good, limits):
        bad = good
    edge = None
    if good + 1 < len(grid):
        edge = faults.get(good + 1) or prover.first_fault(limits, {**values, constant.name: grid[good + 1]})
    if good < 0 and edge.verdict == UNDECIDED:
        raise OutOfTime(f"no answer in time on '{edge.lemma}' for the loosest value of '{constant.name}', {grid[0]}")
    if good < 0:
        raise NoValue(
            f"no value of '{constant.name}' from {constant.low} to {constant.high} works: at the loosest, "
            f"{grid[0]}, '{edge.lemma}' is {edge.verdict}",
            constant.name,
            edge.trace,
        )
    return Optimum(grid[good], edge)
