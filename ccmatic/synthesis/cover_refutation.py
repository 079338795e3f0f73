"""A proof that strikes cover a large search space. The proof is a refutation in propositional logic.

The formula states that each hole has a form, and that no strike contains the resulting candidate. The function
`certificates.refute` refutes this formula. The function `certificates.check_refutation` checks the refutation by unit
propagation alone.
"""

from ccmatic.base import InputError
from ccmatic.contracts import Branch
from ccmatic.logic import certificates


def refute(template, strikes):
    """Refute the statement that some candidate is in no strike.

    Return None and the number of steps of the refutation, or the source of a candidate that no strike contains, and 0.
    Raise InputError if the recorded refutation fails its check.
    """
    formula = _Formula(template, strikes)
    model, logged = certificates.refute(formula.clauses)
    if model:
        return template.candidate(formula.chosen(model)), 0
    steps, refuted = certificates.check_refutation(formula.clauses, logged)
    if not refuted:
        raise InputError("the refutation that the SAT solver logged does not follow by unit propagation")
    return None, steps


class _Formula:
    """The clauses of the formula.

    The clauses do not require that a hole has only one form. This keeps the result sound: further forms only make more
    strikes apply.
    """

    def __init__(self, template, strikes):
        self.clauses, self._top = [], 0
        self.forms = [[self._new() for _ in hole] for hole in template.holes()]
        self.clauses += map(list, self.forms)
        for strike in strikes:
            if strike.members:
                self._not_of_class(strike)
            else:
                struck = self._struck(template, list(zip(self.forms, strike.words, strict=True)), strike.steps, {})
                self.clauses.append([-struck])

    def chosen(self, model):
        true = {literal for literal in model if literal > 0}
        return [next(index for index, form in enumerate(row) if form in true) for row in self.forms]

    def _not_of_class(self, strike):
        inside = [self._new() for _ in self.forms]
        for literal, forms, members in zip(inside, self.forms, strike.members, strict=True):
            self.clauses += [[-form, literal] for form, member in zip(forms, members, strict=True) if member]
        self.clauses.append([-literal for literal in inside])

    def _struck(self, node, holes, active, literals, first=0):
        """Return a literal that is true if a node of the template agrees with the trace at all active steps."""
        if (first, active) in literals:
            return literals[first, active]
        literal = literals[first, active] = self._new()
        forms, words = holes[first]
        if not isinstance(node, Branch):
            self.clauses += [[-form, literal] for form, word in zip(forms, words, strict=True) if active & ~word == 0]
            return literal
        behind = first + 1 + (len(node.then.holes()) if isinstance(node.then, Branch) else 1)
        splits = {}
        for form, word in zip(forms, words, strict=True):
            splits.setdefault(active & word, []).append(form)
        for holds, chosen in splits.items():
            then = self._struck(node.then, holes, holds, literals, first + 1)
            otherwise = self._struck(node.otherwise, holes, active & ~holds, literals, behind)
            split = self._new()
            self.clauses += [[-form, split] for form in chosen]
            self.clauses.append([-split, -then, -otherwise, literal])
        return literal

    def _new(self):
        self._top += 1
        return self._top
