"""The loop of counterexample-guided inductive synthesis (Figure 4 of the paper): every controller of a template
that ensures the query's property."""

from dataclasses import dataclass, replace
from time import monotonic

from ccmatic import cca
from ccmatic.errors import InputError
from ccmatic.generate import ArrayGenerator
from ccmatic.verify import HOLDS, VIOLATED, Verifier


@dataclass(frozen=True)
class Progress:
    """Where the search stands: iterations so far, candidates left and in all, counterexamples, solutions (one a
    class), undecided candidates, seconds. controller: the solution just found, if any."""

    iterations: int = 0
    left: int = 0
    candidates: int = 0
    counterexamples: int = 0
    solutions: int = 0
    undecided: int = 0
    seconds: float = 0.0
    controller: object = None


def synthesise(query, solvers=("z3",), timeout=None, seed=0):
    """Yield a Progress before the first candidate and after each. When it ends, no candidate is left: every class
    of candidates (ENCODING section 9, "Counting") was a solution, broken, or undecided."""
    if query.template is None:
        raise InputError(f"the query {query.name} has no template to search; expected a section [template]")
    begin = monotonic()
    generator = ArrayGenerator(query.template)
    units = query.units()
    verifier = Verifier(query, query.template.names & units.keys(), solvers, timeout, seed)
    now = Progress(left=generator.left, candidates=query.template.size)
    yield now
    while forms := generator.propose():
        source = query.template.source(forms, f"Found by ccmatic for {query.name}.")
        controller = cca.parse(source, f"{query.name}_{now.solutions + 1}", beliefs=units)
        verdict = verifier.verify(controller)
        if verdict.verdict == HOLDS:
            generator.strike_class(forms)
            now = replace(now, solutions=now.solutions + 1)
        elif verdict.verdict == VIOLATED:
            generator.strike_like(verdict.trace)
            now = replace(now, counterexamples=now.counterexamples + 1)
        else:
            generator.strike(forms)
            now = replace(now, undecided=now.undecided + 1)
        now = replace(
            now,
            iterations=now.iterations + 1,
            left=generator.left,
            seconds=monotonic() - begin,
            controller=controller if verdict.verdict == HOLDS else None,
        )
        yield now
